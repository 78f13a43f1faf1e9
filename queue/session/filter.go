package session

import (
	"strings"

	"github.com/schedq/schedq/sources"
)

// Filter selects pods by words. A pod matches if it matches every word: its namespace/name, one of its
// rejector plugins, its gating plugin or one of its labels (as key=value) contains the word, without
// regard to case. A word after ! must not match.
type Filter struct {
	text  sources.SafeText
	words []word
}

type word struct {
	text string
	not  bool
}

// ParseFilter makes a filter out of words separated by blanks. Any text is a filter; without words it
// matches every pod.
func ParseFilter(text string) Filter {
	f := Filter{text: sources.Sanitize(strings.TrimSpace(text))}
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		rest, not := strings.CutPrefix(w, "!")
		if rest != "" {
			f.words = append(f.words, word{rest, not})
		}
	}
	return f
}

// Empty reports whether f matches every pod.
func (f Filter) Empty() bool { return len(f.words) == 0 }

// String returns the text that f was made from, safe to show.
func (f Filter) String() string { return string(f.text) }

// Match reports whether f selects p.
func (f Filter) Match(p *Pod) bool {
	for _, w := range f.words {
		if w.in(p) == w.not {
			return false
		}
	}
	return true
}

func (w word) in(p *Pod) bool {
	contains := func(s string) bool { return strings.Contains(strings.ToLower(s), w.text) }
	if contains(p.Key.Namespace+"/"+p.Key.Name) || contains(p.GatingPlugin) {
		return true
	}
	for _, plugin := range p.RejectorPlugins() {
		if contains(plugin) {
			return true
		}
	}
	for k, v := range p.Labels() {
		if contains(k + "=" + v) {
			return true
		}
	}
	return false
}
