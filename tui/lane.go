package tui

import (
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// maxStays bounds how many of a pod's moves are followed back to draw its lane.
const maxStays = 500

// stay is a time that a pod spent in one tier.
type stay struct {
	tier     queue.Tier
	from, to time.Time
	move     *session.Transition // that brought it there
}

// stays appends the stays of pod up to now that ended after since, oldest first, to all[:0]. Moves that only
// state again where the pod is, and those within a tier, begin none.
func stays(all []stay, pod *session.Pod, now, since time.Time) []stay {
	all = all[:0]
	to := now
	for t, n := pod.Last, 0; t != nil && n < maxStays; t, n = t.Prev, n+1 {
		if t.From == t.To {
			continue
		}
		all = append(all, stay{t.To, t.Time, to, t})
		if to = t.Time; !to.After(since) {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// The glyphs of a lane. A tier has one of its own, so that colour only helps.
const (
	laneAttempt   = "┃"
	laneScheduled = "●"
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

// drawLane draws a pod's stays in one row of p.cells columns. An attempt shows, however short it was; what
// is to come, up to until, is drawn faintly.
func drawLane(a canvas.Area, p period, all []stay, now, until time.Time) {
	for _, s := range all {
		if s.tier > queue.InFlight || s.tier == queue.None {
			continue
		}
		first, last := max(p.column(s.from), 0), p.column(s.to)
		if p.at(last).Equal(s.to) && last > first {
			last-- // it ended just before this column
		}
		style, glyph := tierStyle(s.tier), laneGlyph(s.tier)
		if s.tier == queue.InFlight && last == p.column(s.from) {
			continue // drawn below
		}
		for x := first; x <= last && x < a.W; x++ {
			a.Text(x, 0, style, glyph)
		}
	}
	for i, s := range all {
		x := p.column(s.from)
		if x < 0 || x >= a.W {
			continue
		}
		switch {
		case s.tier == queue.InFlight && p.column(s.to) == x:
			a.Text(x, 0, inFlight|canvas.Bold, laneAttempt)
		case s.tier == queue.Scheduled:
			a.Text(x, 0, scheduled|canvas.Bold, laneScheduled)
		case s.tier == queue.Deleted && (i+1 == len(all) || all[i+1].tier != queue.Scheduled):
			a.Text(x, 0, dim, laneDeleted)
		}
	}
	drawAhead(a, p, all, now, until)
}

// drawAhead draws what is left of the wait of the last stay, if it has an end.
func drawAhead(a canvas.Area, p period, all []stay, now, until time.Time) {
	if len(all) == 0 || !until.After(now) {
		return
	}
	tier, glyph := all[len(all)-1].tier, "·"
	if tier == queue.Backoff {
		glyph = "░"
	}
	for x := max(p.column(now)+1, 0); x <= p.column(until) && x < a.W; x++ {
		a.Text(x, 0, dim, glyph)
	}
}

// laneLegend says what the glyphs mean, as far as there is room.
func laneLegend(a canvas.Area) {
	x := 1
	for _, part := range [...]struct {
		style       canvas.Style
		glyph, name string
	}{
		{active, laneGlyph(queue.Active), "activeQ"}, {backoff, laneGlyph(queue.Backoff), "backoffQ"},
		{unschedulable, laneGlyph(queue.Unschedulable), "unschedulable"}, {gated, laneGlyph(queue.Gated), "gated"},
		{inFlight, laneAttempt, "attempt"}, {scheduled, laneScheduled, "bound"}, {dim, laneDeleted, "gone"}, {dim, "░·", "to come"},
	} {
		if x+canvas.Width(part.glyph)+1+len(part.name) >= a.W {
			return
		}
		x = a.Text(x, 0, part.style, part.glyph)
		x = a.Text(x+1, 0, dim, part.name) + 2
	}
}
