package verdict

import (
	"slices"
	"strings"

	"github.com/schedq/schedq/queue/cycle"
)

// Learned are the plugins of reasons that several may give, by their texts, as a model's scheduler had them.
type Learned map[string]string

// maxLearned is how many texts of reasons are kept: some have a claim's name in them.
const maxLearned = 1000

// Note notes which plugins gave these reasons.
func (l Learned) Note(reasons []cycle.Reason) {
	for _, r := range reasons {
		if r.Plugin != "" && PluginOf(r.Text) == "" && len(l) < maxLearned {
			l[r.Text] = r.Plugin
		}
	}
}

// Rejectors returns the plugins that a condition's message speaks of: those that alone give such a reason, and those that were learned
// to have given it.
func (l Learned) Rejectors(message string) []string {
	plugins, all := PluginsOf(message)
	if all || len(plugins) == 0 {
		return plugins
	}
	for text, plugin := range l {
		if strings.Contains(message, text) && !slices.Contains(plugins, plugin) {
			plugins = append(plugins, plugin)
		}
	}
	if len(plugins) > 1 {
		plugins = slices.DeleteFunc(plugins, func(p string) bool { return p == UnknownPlugin })
	}
	slices.Sort(plugins)
	return plugins
}
