package story

import (
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// MaxStays limits how many of a pod's moves a lane goes back.
const MaxStays = 500

// LanesSpan is the default length of lanes.
const LanesSpan = time.Minute

// Stay is a period that a pod spent in one tier.
type Stay struct {
	Tier     queue.Tier
	From, To time.Time
	Move     *board.Transition // into the tier
}

// Stays appends the stays of pod that ended after since to all[:0], oldest first. Moves within a tier, and those that only restate
// it, start no stay.
func Stays(all []Stay, pod *board.Pod, now, since time.Time) []Stay {
	all = all[:0]
	to := now
	for t, n := pod.Last, 0; t != nil && n < MaxStays; t, n = t.Prev(), n+1 {
		if t.From == t.To {
			continue
		}
		all = append(all, Stay{t.To, t.Time, to, t})
		if to = t.Time; !to.After(since) {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// The glyphs of a lane. Each tier has its own, so colour is not the only cue.
const (
	laneAttempt   = "┃"
	laneScheduled = "✓"
	laneDeleted   = "×"
)

func laneGlyph(tier queue.Tier) string {
	switch tier {
	case queue.Active:
		return "═"
	case queue.Backoff:
		return "▒"
	case queue.Unschedulable:
		return "─"
	case queue.Gated:
		return "┈"
	case queue.InFlight:
		return "█"
	default:
		return " "
	}
}

// DrawLane draws a pod's stays in one row of p. Attempts are visible however short they were. The future, up to until, is dim.
func DrawLane(a canvas.Area, p widget.Period, all []Stay, now, until time.Time) {
	for _, s := range all {
		if s.Tier > queue.InFlight || s.Tier == queue.None {
			continue
		}
		first, last := max(p.Column(s.From), 0), p.Column(s.To)
		if p.At(last).Equal(s.To) && last > first {
			last-- // it ended just before this column
		}
		style, glyph := theme.Tier(s.Tier), laneGlyph(s.Tier)
		if s.Tier == queue.InFlight && last == p.Column(s.From) {
			continue // drawn below
		}
		for x := first; x <= last && x < a.W; x++ {
			a.Text(x, 0, style, glyph)
		}
	}
	for _, s := range all {
		x := p.Column(s.From)
		if x < 0 || x >= a.W {
			continue
		}
		switch {
		case s.Tier == queue.InFlight && p.Column(s.To) == x:
			a.Text(x, 0, theme.InFlight|canvas.Bold, laneAttempt)
		case s.Tier == queue.Scheduled:
			a.Text(x, 0, theme.Scheduled|canvas.Bold, laneScheduled)
		case s.Tier == queue.Deleted:
			a.Text(x, 0, theme.Dim, laneDeleted)
		}
	}
	drawAhead(a, p, all, now, until)
}

// drawAhead draws the rest of the current wait, if it has an end.
func drawAhead(a canvas.Area, p widget.Period, all []Stay, now, until time.Time) {
	if len(all) == 0 || !until.After(now) {
		return
	}
	tier, glyph := all[len(all)-1].Tier, "·"
	if tier == queue.Backoff {
		glyph = "░"
	}
	for x := max(p.Column(now)+1, 0); x <= p.Column(until) && x < a.W; x++ {
		a.Text(x, 0, theme.Dim, glyph)
	}
}

// DrawLegend draws the meaning of the glyphs, as far as it fits.
func DrawLegend(a canvas.Area) {
	x := 1
	for _, part := range [...]struct {
		style       canvas.Style
		glyph, name string
	}{
		{theme.Active, laneGlyph(queue.Active), "activeQ"}, {theme.Backoff, laneGlyph(queue.Backoff), "backoffQ"},
		{theme.Unschedulable, laneGlyph(queue.Unschedulable), "unschedulable"}, {theme.Gated, laneGlyph(queue.Gated), "gated"},
		{theme.InFlight, laneAttempt, "attempt"}, {theme.Scheduled, laneScheduled, "bound"}, {theme.Dim, laneDeleted, "deleted"}, {theme.Dim, "░·", "to come"},
	} {
		if x+canvas.Width(part.glyph)+1+len(part.name) >= a.W {
			return
		}
		x = a.Text(x, 0, part.style, part.glyph)
		x = a.Text(x+1, 0, theme.Dim, part.name) + 2
	}
}

// DrawNow marks the moment shown in rows without a lane.
func DrawNow(a canvas.Area) {
	if a.Blank(0, 0) {
		a.Text(0, 0, theme.Dim, "┊")
	}
}
