package widget

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/tui/page"
)

// PodWords returns the pod names that complete the last word of text.
func PodWords(d *page.UI, text string) []string {
	_, word := lastWord(text)
	var names []string
	for _, key := range d.Frame.Board.Named(word, MaxCandidates) {
		if name := PodWord(key); name != word {
			names = append(names, name)
		}
	}
	return names
}

// PodWord returns the pod's name without the namespace "default".
func PodWord(key types.NamespacedName) string {
	if key.Namespace == "default" {
		return key.Name
	}
	return key.String()
}

// FilterWords returns candidates for the last word of a filter: fields, plugins, tiers and pods.
func FilterWords(d *page.UI, text string) []string {
	before, word := lastWord(text)
	not := ""
	if rest, ok := strings.CutPrefix(word, "!"); ok {
		not, word = "!", rest
	}
	for _, f := range filter.Fields() {
		for _, operator := range f.Operators {
			value, ok := strings.CutPrefix(word, f.Name+operator)
			if !ok || strings.HasPrefix(value, "=") {
				continue
			}
			var words []string
			for _, offered := range Starting(value, fieldValues(f.Name)) {
				words = append(words, not+f.Name+operator+offered)
			}
			return words
		}
	}
	var fields []string
	for _, f := range filter.Fields() {
		fields = append(fields, not+f.Name+f.Operators[0])
	}
	words := slices.DeleteFunc(fields, func(f string) bool { return !strings.HasPrefix(f, not+word) })
	if word == "" {
		return words
	}
	for _, name := range PodWords(d, before+word) {
		words = append(words, not+name)
	}
	return words
}

// fieldValues returns the fixed values of a field.
func fieldValues(field string) []string {
	switch field {
	case "plugin":
		return cluster.RejectorPlugins()
	case "tier":
		return []string{"active", "backoff", "unschedulable", "gated", "in-flight", "bound", "deleted"}
	}
	return nil
}
