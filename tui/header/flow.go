package header

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// flow draws a pod's way through the queue in one line, with the number of pods in each tier. A tier lights up when a pod arrives.
type flow struct{ frame *session.Frame }

// lit is how long a tier stays lit, litMoves how many moves are examined for that.
const (
	lit      = 500 * time.Millisecond
	litMoves = 64
)

// slim is the width below which tiers that pods only pass through are left out.
const slim = 75

// Draw draws the flow as wide as fits: with spaces and words between the tiers, or arrows only. The two outcomes of an attempt are in
// words: readers took a branch of lines for one that starts at the bound pods.
func (w flow) Draw(a canvas.Area) {
	between := [...]string{"new → ", " → ", " → ✓ ", ", or rejected → ", " · ", " ─ event → "}
	switch {
	case a.W >= 110:
	case a.W >= 90:
		between = [...]string{"new → ", " → ", " → ✓ ", " or → ", " · ", " → "}
	default:
		between = [...]string{"→", " → ", " →✓", " or ", "·", " → "}
	}
	came := w.came()
	x := 1
	for i, tier := range [...]queue.Tier{queue.Active, queue.InFlight, queue.Scheduled, queue.Unschedulable, queue.Gated, queue.Backoff} {
		if tier == queue.Gated && (a.W < 90 || w.frame.Board.Total(tier) == 0) || tier == queue.InFlight && a.W < slim {
			continue
		}
		x = a.Text(x, 0, theme.Dim, between[i])
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

// came returns the tiers that pods have just entered.
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
