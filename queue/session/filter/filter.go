// Package filter implements the filter language: words, regular expressions, label selectors and fields,
// the same on the screen and in the commands. docs/reference/filter.md documents it.
package filter

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// Pod holds the properties of a pod that a filter evaluates.
type Pod struct {
	Namespace, Name string
	Tier            queue.Tier
	// Unschedulable and Pending are the plugins that rejected the last attempt, Gating the one that
	// gates the pod.
	Unschedulable, Pending []string
	Gating                 string
	Labels                 map[string]string
	// OwnerKind and OwnerName are the pod's controller, empty if it has none or it is unknown.
	OwnerKind, OwnerName string
	// Node is where the pod is bound or nominated to run.
	Node     string
	Attempts int
	Priority int32
	// Verdict is the code of the second opinion. Empty if there is none.
	Verdict string
	// Waiting is how long the pod has been in the queue, or was when it left.
	Waiting time.Duration
}

// Filter selects the pods that match all of its terms. The zero Filter selects every pod.
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

// String returns the text that f was parsed from, safe to show.
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

// Waits returns the waiting times at which a pod may start or stop matching without changing itself.
func (f Filter) Waits() []time.Duration { return f.waits }

// plugins reports whether test returns true for any plugin that blocks p.
func (p *Pod) plugins(test func(string) bool) bool {
	for _, names := range [...][]string{p.Unschedulable, p.Pending} {
		for _, name := range names {
			if test(name) {
				return true
			}
		}
	}
	return p.Gating != "" && test(p.Gating)
}

// name reports whether test returns true for the pod's namespace/name.
func (p *Pod) name(test func(string) bool) bool { return test(p.Namespace + "/" + p.Name) }

// word matches pods with text, in lower case, anywhere in their name, plugins or labels.
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

// containsFold reports whether s contains sub, which is in lower case, ignoring the case of s.
func containsFold(s, sub string) bool {
	if strings.Contains(s, sub) || sub == "" {
		return true
	}
	for i := range len(s) - len(sub) + 1 {
		if lower(s[i]) == sub[0] && strings.EqualFold(s[i:i+len(sub)], sub) {
			return true
		}
	}
	return !isASCII(s) && strings.Contains(strings.ToLower(s), sub)
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// isASCII reports whether s is ASCII, as Kubernetes names are.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// fuzzy matches pods whose name contains the letters of text, in lower case, in that order.
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
