package board

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/sources"
)

// Condition is what a person runs time to: a move of a certain kind, or a tier that grows or shrinks past a
// number. docs/reference/filter.md describes how it is written.
type Condition struct {
	Text sources.SafeText
	// Exactly one of these is set. Is reports whether a move is what is looked for. Holds reports the same of
	// how many pods each tier has: what is looked for is the moment at which it begins to hold. Mark, in lower
	// case, is a part of the text of the mark that is looked for.
	Is    func(*Transition) bool
	Holds func(*[queue.InFlight + 1]int) bool
	Mark  *string
}

// String returns the text that c was made from, safe to show.
func (c Condition) String() string { return string(c.Text) }

// AnyAttempt is the beginning of any pod's next attempt.
func AnyAttempt() Condition {
	return Condition{Text: "attempt", Is: func(m *Transition) bool { return m.To == queue.InFlight && m.From != queue.InFlight }}
}

// MovesOf is any move of the pod.
func MovesOf(pod types.NamespacedName) Condition {
	return Condition{Text: sources.Sanitize("move of " + pod.String()), Is: func(m *Transition) bool { return m.Pod.Key == pod && !m.Restated() }}
}

// countOf is "active > 100".
var countOf = regexp.MustCompile(`^\s*([A-Za-z-]+)\s*(>=|<=|=|>|<)\s*([0-9]+)\s*$`)

// ParseCondition reads a condition:
//
//	active > 100            a tier's size passes a number
//	event NodeAdd           a pod is moved by that event
//	mark                    a mark, or mark TEXT one with that text in it
//	FILTER enters backoff   a pod that the filter selects enters the tier, or leaves it
//	FILTER                  such a pod moves
//
// What is wrong with it comes as a *filter.Error.
func ParseCondition(text string) (Condition, error) {
	c := Condition{Text: sources.Sanitize(strings.TrimSpace(text))}
	words := strings.Fields(text)
	if len(words) == 0 {
		return c, &filter.Error{At: 1, Problem: "a condition is missing: web-1 enters backoff, active > 100, event NodeAdd, mark"}
	}
	if m := countOf.FindStringSubmatchIndex(text); m != nil {
		tier, err := filter.Tier(text[m[2]:m[3]])
		if err == nil && tier > queue.InFlight {
			err = fmt.Errorf("pods that are %s are not counted", tier)
		}
		if err == nil {
			n, tooLarge := strconv.Atoi(text[m[6]:m[7]])
			compare := comparisons[text[m[4]:m[5]]]
			if tooLarge != nil {
				return c, &filter.Error{At: m[6] + 1, Problem: "this number is too large"}
			}
			c.Holds = func(sizes *[queue.InFlight + 1]int) bool { return compare(cmp.Compare(sizes[tier], n)) }
			return c, nil
		}
		if !filter.IsField(text[m[2]:m[3]]) {
			return c, &filter.Error{At: m[2] + 1, Problem: string(sources.Sanitize(err.Error()))}
		}
	}
	switch {
	case words[0] == "event" && len(words) == 2:
		c.Is = func(m *Transition) bool { return strings.EqualFold(m.Event, words[1]) }
		return c, nil
	case words[0] == "event":
		return c, &filter.Error{At: utf8.RuneCountInString(text) + 1, Problem: "one event's label is missing: event NodeAdd"}
	case words[0] == "mark":
		rest := strings.ToLower(strings.Join(words[1:], " "))
		c.Mark = &rest
		return c, nil
	}
	return c.ofPods(text, words)
}

// ofPods reads a filter, and behind it the tier that a pod enters or leaves.
func (c Condition) ofPods(text string, words []string) (Condition, error) {
	tier, enters := queue.None, false
	if n := len(words); n >= 2 && (words[n-2] == "enters" || words[n-2] == "leaves") {
		var err error
		if tier, err = filter.Tier(words[n-1]); err != nil {
			return c, &filter.Error{At: utf8.RuneCountInString(text[:strings.LastIndex(text, words[n-1])]) + 1, Problem: string(sources.Sanitize(err.Error()))}
		}
		enters = words[n-2] == "enters"
		text = text[:strings.LastIndex(text, words[n-2])]
	}
	f, err := filter.Parse(text)
	if err != nil {
		return c, err
	}
	c.Is = func(m *Transition) bool {
		switch {
		case tier == queue.None && m.Restated(),
			tier != queue.None && m.From == m.To,
			tier != queue.None && enters && m.To != tier,
			tier != queue.None && !enters && m.From != tier:
			return false
		}
		return f.Match(m.Pod.Facts(m.Time))
	}
	return c, nil
}

// comparisons are what the operators make of cmp.Compare's result.
var comparisons = map[string]func(int) bool{
	">":  func(c int) bool { return c > 0 },
	">=": func(c int) bool { return c >= 0 },
	"<":  func(c int) bool { return c < 0 },
	"<=": func(c int) bool { return c <= 0 },
	"=":  func(c int) bool { return c == 0 },
}

// Count counts in sizes, how many pods are in each tier, that a pod that was before is after now. Either may be nil.
func Count(sizes *[queue.InFlight + 1]int, before, after *Pod) {
	if before != nil && !HasLeft(before) {
		sizes[before.Listed()]--
	}
	if after != nil && !HasLeft(after) {
		sizes[after.Listed()]++
	}
}
