package board

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/sources"
)

// Condition describes a moment to run to: a move of a certain kind, or a tier whose size passes a number.
// docs/reference/filter.md documents the syntax.
type Condition struct {
	Text sources.SafeText
	// Exactly one of these is set. Matches reports whether a move meets the condition. Holds reports
	// whether tier sizes meet it; the condition is met when Holds becomes true. Mark is text, in lower
	// case, that a mark must contain.
	Matches func(*Transition) bool
	Holds   func(*[queue.InFlight + 1]int) bool
	Mark    *string
	// waits are the waiting times after which a pod may meet the condition without a move, and meets
	// reports whether it does at a time.
	waits []time.Duration
	meets func(p *Pod, now time.Time) bool
}

// ByWaiting reports whether a pod may meet c without a move, by waiting long enough.
func (c Condition) ByWaiting() bool { return len(c.waits) > 0 }

// FirstWait returns the first time from from on and before to at which a pod of b meets c by waiting, and
// the pod.
func (c Condition) FirstWait(b *Board, from, to time.Time) (at time.Time, found *Pod) {
	c.eachWait(b, from, to, func(p *Pod, t time.Time) {
		if found == nil || t.Before(at) {
			at, found = t, p
		}
	})
	return at, found
}

// LastWait returns the last such time, and the pod.
func (c Condition) LastWait(b *Board, from, to time.Time) (at time.Time, found *Pod) {
	c.eachWait(b, from, to, func(p *Pod, t time.Time) {
		if found == nil || t.After(at) {
			at, found = t, p
		}
	})
	return at, found
}

// eachWait calls each with every queued pod of b that begins to meet c from from on and before to.
func (c Condition) eachWait(b *Board, from, to time.Time, each func(*Pod, time.Time)) {
	if !from.Before(to) {
		return
	}
	for _, wait := range c.waits {
		first := &Pod{Arrived: from.Add(-wait - 1)}
		first.Tier = queue.Active // sorts among the queued pods
		b.lanes.Ascend(first, func(p *Pod) bool {
			reached := p.Arrived.Add(wait)
			for _, t := range [...]time.Time{reached, reached.Add(1)} { // waiting >= wait, and > wait
				if !t.Before(from) && t.Before(to) && c.meets(p, t) && !c.meets(p, t.Add(-1)) {
					each(p, t)
				}
			}
			return reached.Before(to)
		})
	}
}

// String returns the text that c was parsed from, safe to show.
func (c Condition) String() string { return string(c.Text) }

// AnyAttempt is met by the start of any pod's next attempt.
func AnyAttempt() Condition {
	return Condition{Text: "attempt", Matches: func(m *Transition) bool { return m.To == queue.InFlight && m.From != queue.InFlight }}
}

// MovesOf is met by any move of the pod.
func MovesOf(pod types.NamespacedName) Condition {
	return Condition{Text: sources.Sanitize("move of " + pod.String()), Matches: func(m *Transition) bool { return m.Pod.Key == pod && !m.Restated() }}
}

// countOf matches a condition on a tier's size: "active > 100".
var countOf = regexp.MustCompile(`^\s*([A-Za-z-]+)\s*(>=|<=|=|>|<)\s*([0-9]+)\s*$`)

// ParseCondition parses a condition:
//
//	active > 100            a tier's size passes a number
//	event NodeAdd           the event moves a pod
//	mark                    any mark; with mark TEXT, a mark that contains the text
//	FILTER enters backoff   a matching pod enters the tier; or leaves it
//	FILTER                  a matching pod moves, or a pod begins to match by waiting
//
// Syntax errors are *filter.Error.
func ParseCondition(text string) (Condition, error) {
	c := Condition{Text: sources.Sanitize(strings.TrimSpace(text))}
	words := strings.Fields(text)
	if len(words) == 0 {
		return c, &filter.Error{At: 1, Problem: "condition missing: try web-1 enters backoff, active > 100, event NodeAdd, or mark"}
	}
	if m := countOf.FindStringSubmatchIndex(text); m != nil {
		tier, err := filter.Tier(text[m[2]:m[3]])
		if err == nil && tier > queue.InFlight {
			err = fmt.Errorf("%s pods can't be counted", tier)
		}
		if err == nil {
			n, tooLarge := strconv.Atoi(text[m[6]:m[7]])
			compare := comparisons[text[m[4]:m[5]]]
			if tooLarge != nil {
				return c, &filter.Error{At: m[6] + 1, Problem: "number too large"}
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
		c.Matches = func(m *Transition) bool { return strings.EqualFold(m.Event, words[1]) }
		return c, nil
	case words[0] == "event":
		return c, &filter.Error{At: utf8.RuneCountInString(text) + 1, Problem: "event label missing: try event NodeAdd"}
	case words[0] == "mark":
		rest := strings.ToLower(strings.Join(words[1:], " "))
		c.Mark = &rest
		return c, nil
	}
	return c.ofPods(text, words)
}

// ofPods parses a filter, and after it the tier that a pod enters or leaves.
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
	if tier == queue.None {
		c.waits, c.meets = f.Waits(), func(p *Pod, now time.Time) bool { return f.Match(p.Facts(now)) }
	}
	c.Matches = func(m *Transition) bool {
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

// comparisons interpret the result of cmp.Compare for each operator.
var comparisons = map[string]func(int) bool{
	">":  func(c int) bool { return c > 0 },
	">=": func(c int) bool { return c >= 0 },
	"<":  func(c int) bool { return c < 0 },
	"<=": func(c int) bool { return c <= 0 },
	"=":  func(c int) bool { return c == 0 },
}

// Count updates sizes, the number of pods in each tier, for a pod that changes from before to after.
// Either may be nil.
func Count(sizes *[queue.InFlight + 1]int, before, after *Pod) {
	if before != nil && !HasLeft(before) {
		sizes[before.Listed()]--
	}
	if after != nil && !HasLeft(after) {
		sizes[after.Listed()]++
	}
}
