package story

import (
	"strings"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// MoveProvenance returns the glyph of an observed or a modelled move.
func MoveProvenance(t *board.Transition) string {
	if t.Pod.Estimated && !t.Observed {
		return theme.GlyphEstimated
	}
	return theme.Provenance(t.Observed)
}

// MoveTime formats the time of t to the millisecond, or to the tenth of a second if short.
func MoveTime(t *board.Transition, zone words.Zone, short bool) string {
	when := zone.Precise(t.Time)
	if short {
		return when[:len("15:04:05.0")]
	}
	return when
}

// LongMove is the width from which the tiers of a move are spaced, with room for the cause. ShortMove fits
// "in-flight→unschedulable rejected by NodeResourcesFit".
const (
	LongMove  = 60
	ShortMove = 48
)

// DrawMove draws the tiers and the cause of a move.
func DrawMove(a canvas.Area, t *board.Transition) {
	arrow, width := " → ", len("in-flight - unschedulable ")
	if a.W < LongMove {
		arrow, width = "→", len("active-in-flight ")
	}
	x := a.Text(0, 0, theme.Dim, tierWord(t.From))
	x = a.Text(x, 0, theme.Dim, arrow)
	x = a.Text(x, 0, theme.Tier(t.To), tierWord(t.To))
	width = max(width, x+1) // longer tiers are rare, and a short row needs the space for the cause
	a.Text(width, 0, theme.Plain, canvas.Truncate(cause(t, a.W-width), a.W-width))
}

// tierWord returns a tier's name in the log, where each row has two.
func tierWord(tier queue.Tier) string {
	switch tier {
	case queue.None:
		return "new"
	case queue.InFlight:
		return "in-flight"
	case queue.Scheduled:
		return "bound"
	default:
		return tier.String()
	}
}

// cause returns what moved the pod, in upstream's words, in about width cells.
func cause(t *board.Transition, width int) string {
	switch {
	case t.Event == queue.ScheduleAttemptFailure:
		return failure(t, width)
	case t.To == queue.InFlight && t.From == queue.Backoff:
		return queue.PopFromBackoffQ + ", attempt " + t.AttemptCount().String()
	case t.To == queue.InFlight:
		return "popped, attempt " + t.AttemptCount().String()
	case t.To == queue.Scheduled && t.Pod.Node != "":
		return "to " + format.Safe(t.Pod.Node)
	case t.TakenBack():
		return "attempt not observed"
	case t.To == queue.Gated && t.GatingPlugin != "":
		return strings.TrimSpace(format.Safe(t.Event) + " " + theme.GlyphGated + " " + format.Safe(t.GatingPlugin))
	default:
		return format.Safe(t.Event)
	}
}

// failure returns the plugins that rejected the attempt, and upstream's label if both fit.
func failure(t *board.Transition, width int) string {
	plugins := append(append([]string{}, t.UnschedulablePlugins...), t.PendingPlugins...)
	reason := "error, no plugin"
	if len(plugins) > 0 {
		reason = "rejected by " + format.SafeList(plugins, ", ")
	}
	if len(t.Event)+2+len(reason) <= width {
		return t.Event + ": " + reason
	}
	return reason
}
