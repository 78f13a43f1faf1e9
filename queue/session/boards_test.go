package session

import (
	"fmt"
	"strings"
)

// picture is a board in words.
func picture(b *Board) string {
	var s strings.Builder
	for _, tier := range shown {
		for i := range b.Len(tier) {
			p := b.At(tier, i)
			fmt.Fprintf(&s, "%s %s attempts=%d prio=%d expiry=%s since=%s labels=%v\n", tier, p.Key.Name, p.Attempts, p.Priority, p.BackoffExpiry, p.Since, p.Labels())
			if got := b.Index(p); got != i {
				fmt.Fprintf(&s, "but Index says %d, not %d\n", got, i)
			}
		}
	}
	return s.String()
}

func words(moves []*Transition) []string {
	var s []string
	for _, m := range moves {
		s = append(s, m.String())
	}
	return s
}
