package session

import (
	"strings"

	"github.com/schedq/schedq/sources"
)

// Filter selects pods by words. A pod matches if it matches every term: its namespace/name, one of its
// rejector plugins, its gating plugin or one of its labels (as key=value) contains the term, without
// regard to case. A term after ! must not match.
type Filter struct {
	text  sources.SafeText
	terms []term
}

type term struct {
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
			f.terms = append(f.terms, term{rest, not})
		}
	}
	return f
}

// Empty reports whether f matches every pod.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

// String returns the text that f was made from, safe to show.
func (f Filter) String() string { return string(f.text) }

// Match reports whether f selects p.
func (f Filter) Match(p *Pod) bool {
	for _, w := range f.terms {
		if w.in(p) == w.not {
			return false
		}
	}
	return true
}

func (w term) in(p *Pod) bool {
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
