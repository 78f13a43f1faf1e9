package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
)

// Summary says where pods moved: "9 pods moved: 6 to backoff, 3 to active".
func Summary(moves []*board.Transition) string {
	switch len(moves) {
	case 0:
		return "nothing moved"
	case 1:
		m := moves[0]
		if m.From == m.To {
			return fmt.Sprintf("%s stays %s", m.Pod.Key, words.TierWord(m.To))
		}
		if m.From == queue.None {
			return fmt.Sprintf("%s → %s", m.Pod.Key, words.TierWord(m.To))
		}
		return fmt.Sprintf("%s %s → %s", m.Pod.Key, words.TierWord(m.From), words.TierWord(m.To))
	}
	var to []string
	stayed := 0
	for t := queue.Active; t <= queue.Deleted; t++ {
		n := 0
		for _, m := range moves {
			switch {
			case m.To != t:
			case m.From == m.To:
				stayed++
			default:
				n++
			}
		}
		if n > 0 {
			to = append(to, fmt.Sprintf("%d to %s", n, words.TierWord(t)))
		}
	}
	if stayed > 0 {
		to = append(to, words.Plural(stayed, "pod")+" stayed gated")
	}
	if stayed == len(moves) {
		return "nothing moved, " + to[0]
	}
	return fmt.Sprintf("%s moved: %s", words.Plural(len(moves)-stayed, "pod"), strings.Join(to, ", "))
}

// Outcome says which pods were bound within took, where, and which of b still wait and why.
func Outcome(moves []*board.Transition, b *board.Board, took time.Duration) string {
	byNode := map[string][]string{}
	placed := 0
	for _, m := range moves {
		if m.To == queue.Scheduled {
			placed++
			byNode[m.Pod.Node] = append(byNode[m.Pod.Node], m.Pod.Key.Name)
		}
	}
	said := "none bound"
	if placed > 0 {
		var where []string
		for _, node := range slices.Sorted(maps.Keys(byNode)) {
			pods := byNode[node]
			names := strings.Join(pods[:min(2, len(pods))], ", ")
			if more := len(pods) - 2; more > 0 {
				names += fmt.Sprintf(" and %d more", more)
			}
			where = append(where, names+" on "+node)
		}
		said = fmt.Sprintf("%d bound (%s", placed, strings.Join(where[:min(3, len(where))], "; "))
		if len(where) > 3 {
			said += "; on " + words.Plural(len(where)-3, "more node")
		}
		said += ")"
	}
	if took >= time.Second {
		said += fmt.Sprintf(" within %s", took.Round(time.Second))
	}
	return said + ", " + stillWaiting(b)
}

// stillWaiting counts the waiting pods by the plugins that rejected them.
func stillWaiting(b *board.Board) string {
	b = b.Unfiltered()
	counts := map[string]int{}
	total := 0
	for _, tier := range []queue.Tier{queue.Unschedulable, queue.Gated, queue.Backoff, queue.Active} {
		for i := range b.Len(tier) {
			total++
			plugins := b.At(tier, i).RejectorPlugins()
			if len(plugins) == 0 {
				plugins = []string{"no plugin"}
			}
			for _, p := range plugins {
				counts[p]++
			}
		}
	}
	return stillWaitingText(total, counts)
}

// mostNamed limits how many plugins an outcome names.
const mostNamed = 3

// stillWaitingText says how many pods wait, and how many of them each plugin rejected. A pod rejected by
// several plugins counts for each.
func stillWaitingText(pods int, rejected map[string]int) string {
	names := slices.SortedFunc(maps.Keys(rejected), func(a, b string) int {
		return cmp.Or(rejected[b]-rejected[a], strings.Compare(a, b))
	})
	switch pods {
	case 0:
		return "none waiting"
	case 1:
		return "1 waiting: " + strings.Join(names, ", ")
	}
	var why []string
	for _, name := range names[:min(mostNamed, len(names))] {
		why = append(why, fmt.Sprintf("%s (%d)", name, rejected[name]))
	}
	text := fmt.Sprintf("%d waiting, rejected by %s", pods, strings.Join(why, ", "))
	if more := len(names) - mostNamed; more > 0 {
		text += " and " + words.Plural(more, "other plugin")
	}
	return text
}
