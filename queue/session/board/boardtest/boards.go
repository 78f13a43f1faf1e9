package boardtest

import (
	"fmt"
	"strings"

	"github.com/schedq/schedq/queue/session/board"
)

// Picture formats a board as text.
func Picture(b *board.Board) string {
	var s strings.Builder
	for _, tier := range board.Tiers {
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

// Words formats moves as lines of text.
func Words(moves []*board.Transition) []string {
	var s []string
	for _, m := range moves {
		s = append(s, m.String())
	}
	return s
}
