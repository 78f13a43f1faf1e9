// Package filter is the language in which a person says which pods to show: words, regular expressions,
// label selectors and fields, the same on the screen and for the commands without one. docs/reference/filter.md
// describes it.
package filter

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// Pod is what a filter looks at.
type Pod struct {
	Namespace, Name string
	Tier            queue.Tier
	// Unschedulable and Pending are the plugins that rejected the last attempt, Gating the one that gates
	// the pod.
	Unschedulable, Pending []string
	Gating                 string
	Labels                 map[string]string
	// OwnerKind and OwnerName are the pod's controller. Empty if it has none, or if it is not known.
	OwnerKind, OwnerName string
	// Node is where the pod is bound or nominated to run.
	Node     string
	Attempts int
	Priority int32
	// Waiting is how long the pod has been in the queue, or was when it left.
	Waiting time.Duration
}

// Filter selects pods: those that match all of its terms. The zero Filter selects every pod.
type Filter struct {
	text  sources.SafeText
	terms []term
	waits []time.Duration
}

// term is a part of a filter.
type term struct {
	match func(*Pod) bool
	not   bool
}

// Empty reports whether f selects every pod.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

// String returns the text that f was made from, safe to show.
func (f Filter) String() string { return string(f.text) }

// Match reports whether f selects p.
func (f Filter) Match(p *Pod) bool {
	for _, t := range f.terms {
		if t.match(p) == t.not {
			return false
		}
	}
	return true
}

// Waits are the lengths of waiting at which a pod may begin or cease to match though nothing happens to it.
func (f Filter) Waits() []time.Duration { return f.waits }

// plugins reports whether any plugin that holds p satisfies is.
func (p *Pod) plugins(is func(string) bool) bool {
	for _, names := range [...][]string{p.Unschedulable, p.Pending} {
		for _, name := range names {
			if is(name) {
				return true
			}
		}
	}
	return p.Gating != "" && is(p.Gating)
}

// name reports whether the pod's name, with or without its namespace, satisfies is.
func (p *Pod) name(is func(string) bool) bool { return is(p.Namespace + "/" + p.Name) }

// word matches pods that have text, in small letters, anywhere in their name, plugins or labels.
func word(text string) func(*Pod) bool {
	return func(p *Pod) bool {
		contains := func(s string) bool { return containsFold(s, text) }
		if p.name(contains) || p.plugins(contains) {
			return true
		}
		for k, v := range p.Labels {
			if contains(k + "=" + v) {
				return true
			}
		}
		return false
	}
}

// containsFold reports whether s contains small, which is in small letters, whatever the case of s.
func containsFold(s, small string) bool {
	if strings.Contains(s, small) || small == "" {
		return true
	}
	for i := range len(s) - len(small) + 1 {
		if lower(s[i]) == small[0] && strings.EqualFold(s[i:i+len(small)], small) {
			return true
		}
	}
	return !plain(s) && strings.Contains(strings.ToLower(s), small)
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// plain reports whether s is ASCII, as names of Kubernetes are.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// fuzzy matches pods whose name has the letters of text, in small letters, in that order.
func fuzzy(text string) func(*Pod) bool {
	letters := []rune(text)
	return func(p *Pod) bool {
		return p.name(func(name string) bool {
			i := 0
			for _, r := range strings.ToLower(name) {
				if i < len(letters) && r == letters[i] {
					i++
				}
			}
			return i == len(letters)
		})
	}
}
