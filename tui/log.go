package tui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// logRows is which part of the log is in sight. Moves that only state again where a pod is are skipped.
type logRows struct {
	// scrolled is false while the newest move is kept in sight.
	scrolled bool
	// cursor is the selected move and bottom the last one in sight, as numbers in the log.
	cursor, bottom int
}

// skipAtMost bounds how many moves are passed over in search of one to show.
const skipAtMost = 256

// before returns the last move to show that is older than the i-th, or -1.
func before(log session.Log, i int) int {
	i = min(i, log.Len())
	for n := 1; n <= skipAtMost && i-n >= 0; n++ {
		if !log.At(i - n).Restated() {
			return i - n
		}
	}
	return -1
}

// behind returns the first move to show that is newer than the i-th, or -1.
func behind(log session.Log, i int) int {
	for n := 1; n <= skipAtMost && i+n < log.Len(); n++ {
		if !log.At(i + n).Restated() {
			return i + n
		}
	}
	return -1
}

// move moves the cursor by n moves, or to the ends, and reports whether there is a move to stand on.
func (r *logRows) move(log session.Log, n int) bool {
	r.scrolled = true
	for ; n < 0; n++ {
		if i := before(log, r.cursor); i >= 0 {
			r.cursor = i
		}
	}
	for ; n > 0; n-- {
		if i := behind(log, r.cursor); i >= 0 {
			r.cursor = i
		} else {
			r.scrolled = false
			break
		}
	}
	return r.cursor < log.Len()
}

// settle keeps the cursor within the log and in sight among height rows.
func (r *logRows) settle(log session.Log, height int) {
	last := before(log, log.Len())
	if !r.scrolled || r.cursor >= last {
		r.scrolled = false
		r.cursor, r.bottom = max(last, 0), max(last, 0)
		return
	}
	r.bottom = min(max(r.bottom, r.cursor), last)
	top := r.bottom
	for range height - 1 {
		if i := before(log, top); i >= 0 {
			top = i
		}
	}
	if r.cursor >= top {
		return
	}
	r.bottom = r.cursor
	for range height - 1 {
		if i := behind(log, r.bottom); i >= 0 {
			r.bottom = i
		}
	}
}

// logView draws the moves so far, the newest at the bottom.
type logView struct {
	frame    *session.Frame
	rows     *logRows
	selected selection
	focused  bool
}

// Draw draws the title and as many moves as fit, from the last in sight upwards.
func (v logView) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	title := a.Row(0)
	x := rule(title, logPane, v.focused, "")
	log := v.frame.Log
	if v.rows.scrolled {
		title.Text(x, 0, dim, " older moves: G goes back to the newest ")
	}
	body := a.Sub(0, 1, a.W, a.H-1)
	lines := v.visible(body.H)
	if len(lines) == 0 {
		for y, line := range canvas.Wrap("No pod has moved yet: each move from one tier to another is listed here with what caused it, the newest last. . goes to the first.", a.W-3) {
			body.Text(2, y, dim, line)
		}
		return
	}
	for y, i := range lines { // the first rows stay at the top until the log fills its place
		t := log.At(i)
		row := body.Row(y)
		v.row(row, t)
		switch {
		case v.focused && i == v.rows.cursor:
			row.Text(0, 0, canvas.Bold, glyphSelected)
			row.Restyle(chosen)
		case v.selected.is(t.Pod) && v.focused:
			row.Text(0, 0, dim, "·")
		case v.selected.is(t.Pod):
			row.Text(0, 0, canvas.Bold, glyphSelected)
		}
	}
}

// visible returns the moves in sight in h lines, as numbers in the log, oldest first.
func (v logView) visible(h int) []int {
	log := v.frame.Log
	i := before(log, log.Len())
	if v.rows.scrolled {
		i = min(i, v.rows.bottom)
	}
	lines := make([]int, 0, max(h, 0))
	for ; i >= 0 && len(lines) < h; i = before(log, i) {
		lines = append(lines, i)
	}
	slices.Reverse(lines)
	return lines
}

// row draws one move with its pod.
func (v logView) row(a canvas.Area, t *session.Transition) {
	x := a.Text(1, 0, dim, moveTime(t, a.W < 100))
	x = a.Text(x+1, 0, tierStyle(t.To), moveProvenance(t)) + 1
	name := min(a.W-x-1-longMove, 40)
	if name < 14 {
		name = max(a.W-x-1-shortMove, 14)
	}
	a.Text(x, 0, plain, canvas.Middle(podName(t.Pod.Key, name), name))
	x += name + 1
	drawMove(a.Sub(x, 0, a.W-x, 1), t)
}

// moveTime writes when t was, to the millisecond or in short to the tenth of a second.
func moveTime(t *session.Transition, short bool) string {
	when := clockTime(t.Time)
	if short {
		return when[:len("15:04:05.0")]
	}
	return when
}

// longMove is the width from which on a move's tiers are written out, with room for what caused it.
// shortMove has room for "in-flight→unsched   rejected by NodeResourcesFit".
const (
	longMove  = 60
	shortMove = 48
)

// drawMove draws from where to where, and why.
func drawMove(a canvas.Area, t *session.Transition) {
	arrow, width := " → ", len("in-flight - unschedulable ")
	short := a.W < longMove
	if short {
		arrow, width = "→", len("in-flight-scheduled ")
	}
	x := a.Text(0, 0, dim, tierWord(t.From, short))
	x = a.Text(x, 0, dim, arrow)
	a.Text(x, 0, tierStyle(t.To), tierWord(t.To, short))
	a.Text(width, 0, plain, canvas.Truncate(cause(t, a.W-width), a.W-width))
}

// tierWord is a tier's name in the log, where two stand in each row.
func tierWord(tier queue.Tier, short bool) string {
	switch {
	case tier == queue.None:
		return "new"
	case tier == queue.InFlight:
		return "in-flight"
	case tier == queue.Unschedulable && short:
		return "unsched"
	default:
		return tier.String()
	}
}

// cause says what made the pod move, in upstream's words, in about width cells.
func cause(t *session.Transition, width int) string {
	switch {
	case t.Event == queue.ScheduleAttemptFailure:
		return failure(t, width)
	case t.To == queue.InFlight && t.From == queue.Backoff:
		return queue.PopFromBackoffQ + ", attempt " + strconv.Itoa(t.Attempts)
	case t.To == queue.InFlight:
		return "popped, attempt " + strconv.Itoa(t.Attempts)
	case t.To == queue.Scheduled && t.Pod.Node != "":
		return "bound to " + safe(t.Pod.Node)
	case t.To == queue.Deleted && t.Pod.Node != "":
		return "its binding was seen"
	case t.PutBack():
		return "not seen to be tried"
	case t.To == queue.Gated && t.GatingPlugin != "":
		return strings.TrimSpace(safe(t.Event) + " " + glyphGated + " " + safe(t.GatingPlugin))
	default:
		return safe(t.Event)
	}
}

// failure names the plugins that rejected the attempt, and upstream's label if there is room for both.
func failure(t *session.Transition, width int) string {
	plugins := append(append([]string{}, t.UnschedulablePlugins...), t.PendingPlugins...)
	reason := "error, no plugin"
	if len(plugins) > 0 {
		reason = "rejected by " + safeList(plugins, ", ")
	}
	if len(t.Event)+2+len(reason) <= width {
		return t.Event + ": " + reason
	}
	return reason
}
