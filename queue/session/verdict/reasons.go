package verdict

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

//go:generate go run generate.go

// upstreamReason is a reason that a plugin gives. In text a * stands for what differs from pod to pod.
type upstreamReason struct{ text, plugin string }

// reasonPlugins returns the plugin of each text in upstreamReasons without a *, empty if several plugins give it, and the others.
var reasonPlugins = sync.OnceValues(func() (exact map[string]string, patterns []upstreamReason) {
	exact = map[string]string{}
	for _, r := range upstreamReasons {
		if strings.Contains(r.text, "*") {
			patterns = append(patterns, r)
		} else if _, again := exact[r.text]; again {
			exact[r.text] = ""
		} else {
			exact[r.text] = r.plugin
		}
	}
	return exact, patterns
})

// PluginOf returns the in-tree plugin that gives that reason in a message, which names no plugins: NodeResourcesFit
// for "Insufficient cpu". It is empty if several plugins give it or it is not known.
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

// matches reports whether text is of that pattern, in which each * stands for any text.
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

// pluginsOf returns the plugins of one reason of a scheduler of that release, as PluginsOf. It is empty if they are not known.
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

// isMissingClaim reports whether a reason is that of a pod whose claim does not exist. The first PreFilter plugin that reads
// claims gives it.
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

// PluginsOf returns the plugins that a failed attempt's message speaks of, sorted, for a scheduler of that release; "" is the newest.
// UnknownPlugin is among them if a reason is given whose plugin is not known, or none. There are none if the message is that of an
// error.
func PluginsOf(message, release string) []string {
	return Learned(nil).PluginsOf(message, release)
}

// UnknownPlugin stands for plugins that rejected a pod and are not known. Any event may wake a pod that they rejected.
const UnknownPlugin = "(unknown plugin)"

// Incomplete reports whether plugins that are not known are among plugins.
func Incomplete(plugins []string) bool { return slices.Contains(plugins, UnknownPlugin) }
