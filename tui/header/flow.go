package header

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// flow draws the way of a pod through the queue in one line, with how many pods are where. A place lights up when a pod
// comes to it.
type flow struct{ frame *session.Frame }

// lit is for how long a place is lit after a pod came, and litMoves how many moves are looked at for that.
const (
	lit      = 500 * time.Millisecond
	litMoves = 64
)

// slim is the width below which the way has no room for where pods are for a moment only.
const slim = 75

// Draw draws as much of the way as there is room for: with blanks and words between the places, or arrows alone. That an attempt
// ends in one of two ways is said in words: readers took a branch of lines for one that begins at the bound pods.
func (w flow) Draw(a canvas.Area) {
	said := [...]string{"new → ", " → ", " → ✓ ", ", or rejected → ", " · ", " ─ event → "}
	switch {
	case a.W >= 110:
	case a.W >= 90:
		said = [...]string{"new → ", " → ", " → ✓ ", " or → ", " · ", " → "}
	default:
		said = [...]string{"→", " → ", " →✓", " or ", "·", " → "}
	}
	came := w.came()
	x := 1
	for i, tier := range [...]queue.Tier{queue.Active, queue.InFlight, queue.Scheduled, queue.Unschedulable, queue.Gated, queue.Backoff} {
		if tier == queue.Gated && (a.W < 90 || w.frame.Board.Total(tier) == 0) || tier == queue.InFlight && a.W < slim {
			continue
		}
		x = a.Text(x, 0, theme.Dim, said[i])
		style := theme.Tier(tier)
		if came[tier] {
			style |= canvas.Reverse
		}
		n := w.frame.Board.Bound()
		if tier != queue.Scheduled {
			n = w.frame.Board.Total(tier)
		}
		x = a.Text(x, 0, style, theme.TierName(tier))
		x = a.Text(x, 0, style, " ")
		x = a.Text(x, 0, style|canvas.Bold, format.Number(n))
		if a.W >= vast && tier != queue.Scheduled {
			x = drawTrend(a.Sub(x+1, 0, trendCells, 1), w.frame, tier) + x + 1
		}
	}
	for _, back := range [...]string{" → activeQ", " →"} {
		if x+canvas.Width(back) < a.W {
			a.Text(x, 0, theme.Dim, back)
			break
		}
	}
}

// came returns the tiers that pods came to lately.
func (w flow) came() (tiers [queue.Deleted + 1]bool) {
	log := w.frame.Log
	for i := log.Len() - 1; i >= max(0, log.Len()-litMoves); i-- {
		t := log.At(i)
		if w.frame.Now.Sub(t.Time) > lit {
			break
		}
		if t.From != t.To && t.To <= queue.Deleted {
			tiers[t.To] = true
		}
	}
	return tiers
}
