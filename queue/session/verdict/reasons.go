package verdict

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/schedq/schedq/queue/cycle"
)

//go:generate go run generate.go

// upstreamReason is a reason of an upstream plugin. A * in text matches any text.
type upstreamReason struct{ text, plugin string }

// reasonPlugins returns the plugin of each text in upstreamReasons without a *, empty if several plugins use the text, and
// the texts with a *.
var reasonPlugins = sync.OnceValues(func() (exact map[string]string, patterns []upstreamReason) {
	exact = map[string]string{}
	for _, r := range upstreamReasons {
		if strings.Contains(r.text, "*") {
			patterns = append(patterns, r)
		} else if _, shared := exact[r.text]; shared {
			exact[r.text] = ""
		} else {
			exact[r.text] = r.plugin
		}
	}
	return exact, patterns
})

// PluginOf returns the in-tree plugin that uses that reason, such as NodeResourcesFit for "Insufficient cpu". It is empty if
// several plugins do, or none is known.
func PluginOf(reason string) string {
	exact, patterns := reasonPlugins()
	if plugin, ok := exact[reason]; ok {
		return plugin
	}
	plugin := ""
	for _, r := range patterns {
		switch {
		case r.plugin == plugin || !matches(r.text, reason):
		case plugin != "":
			return ""
		default:
			plugin = r.plugin
		}
	}
	return plugin
}

// matches reports whether text matches pattern, in which each * matches any text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	text, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if !ok {
			return false
		}
		_, text, ok = strings.Cut(text, part)
	}
	return ok && strings.HasSuffix(text, parts[len(parts)-1])
}

// pluginsOf returns the plugins of one reason of a scheduler of that release, or nil if they are unknown.
func pluginsOf(reason, release string) []string {
	if together, ok := strings.CutPrefix(reason, "node(s) didn't satisfy plugin"); ok { // PreFilter plugins (framework/runtime/framework.go)
		together = strings.TrimSuffix(strings.TrimPrefix(together, "(s)"), " simultaneously")
		return strings.Fields(strings.Trim(together, " []"))
	}
	if isMissingClaim(reason) {
		if release != "" && release < "v1.27" { // ReadWriteOncePod is off
			return []string{names.VolumeBinding}
		}
		return []string{names.VolumeRestrictions}
	}
	if plugin := PluginOf(reason); plugin != "" {
		return []string{plugin}
	}
	return nil
}

// isMissingClaim reports whether a reason is that of a pod whose claim does not exist. It comes from the first PreFilter
// plugin that reads claims.
func isMissingClaim(reason string) bool {
	return strings.HasPrefix(reason, `persistentvolumeclaim "`) && strings.HasSuffix(reason, `" not found`)
}

// UnboundClaims is VolumeBinding's reason for a claim that is to be bound before its pod is scheduled (v1.37:
// framework/plugins/volumebinding/volume_binding.go).
const UnboundClaims = "pod has unbound immediate PersistentVolumeClaims"

// IsClaimNotReady reports whether a plugin's reason, which applies to every node, is that a volume or device claim does not exist
// or is not ready.
func IsClaimNotReady(plugin, reason string) bool {
	if strings.HasPrefix(reason, "node(s) ") {
		return false
	}
	switch plugin {
	case names.DynamicResources, names.VolumeBinding, names.VolumeRestrictions, names.VolumeZone:
		return true
	}
	return isMissingClaim(reason) || reason == UnboundClaims || reason == "PersistentVolume had no name" // by VolumeBinding and VolumeZone
}

// InTree reports whether kube-scheduler has a plugin of that name.
func InTree(plugin string) bool { return slices.Contains(inTree(), plugin) }

var inTree = sync.OnceValue(func() (all []string) {
	for name := range plugins.NewInTreeRegistry() {
		all = append(all, name)
	}
	return all
})

// PluginsOf returns the plugins that rejected an attempt with that message, sorted, for a scheduler of that release; "" is
// the newest. It includes UnknownPlugin if the plugin of a reason is unknown, or if there are no reasons. It is nil for the
// message of an error.
func PluginsOf(message, release string) []string {
	return LearnedPlugins(nil).PluginsOf(message, release)
}

// UnknownPlugin stands for an unknown plugin that rejected a pod. Any event may wake that pod.
const UnknownPlugin = "(unknown plugin)"

// Incomplete reports whether plugins include UnknownPlugin.
func Incomplete(plugins []string) bool { return slices.Contains(plugins, UnknownPlugin) }

// LearnedPlugins are the plugins, by reason, of reasons that PluginOf does not know. They come from attempts of the model's
// scheduler, which knows them.
type LearnedPlugins map[string]string

// maxLearned limits the number of learned reasons, some of which contain the name of a claim.
const maxLearned = 1000

// Learn records the plugins of these reasons.
func (l LearnedPlugins) Learn(reasons []cycle.Reason) {
	for _, r := range reasons {
		if r.Plugin != "" && PluginOf(r.Text) == "" && len(l) < maxLearned {
			l[r.Text] = r.Plugin
		}
	}
}

// PluginsOf is the function PluginsOf with the learned plugins.
func (l LearnedPlugins) PluginsOf(message, release string) (plugins []string) {
	if !strings.HasPrefix(message, DoesNotFit) || strings.HasPrefix(message, "0/0 ") {
		return nil
	}
	_, reasons, _ := ReadMessage(message)
	for _, r := range reasons {
		known := pluginsOf(string(r.Text), release)
		if learned, ok := l[string(r.Text)]; ok {
			known = []string{learned}
		}
		if len(known) == 0 {
			known = []string{UnknownPlugin}
		}
		plugins = append(plugins, known...)
	}
	if len(plugins) == 0 {
		return []string{UnknownPlugin}
	}
	slices.Sort(plugins)
	return slices.Compact(plugins)
}
