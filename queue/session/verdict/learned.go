package verdict

import (
	"slices"
	"strings"

	"github.com/schedq/schedq/queue/cycle"
)

// Learned are the plugins of reasons whose texts do not tell them, by text, as a model's scheduler had them.
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

// PluginsOf is the function PluginsOf, which also knows what was learned.
func (l Learned) PluginsOf(message, release string) (plugins []string) {
	if !strings.HasPrefix(message, DoesNotFit) || strings.HasPrefix(message, "0/0 ") {
		return nil
	}
	_, reasons, _ := ReadMessage(message)
	for _, r := range reasons {
		gave := pluginsOf(string(r.Text), release)
		if learned, ok := l[string(r.Text)]; ok {
			gave = []string{learned}
		}
		if len(gave) == 0 {
			gave = []string{UnknownPlugin}
		}
		plugins = append(plugins, gave...)
	}
	if len(plugins) == 0 {
		return []string{UnknownPlugin}
	}
	slices.Sort(plugins)
	return slices.Compact(plugins)
}
