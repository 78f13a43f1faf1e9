package board

import (
	"slices"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
)

// logRows is the visible part of the log. Moves that only restate a pod's place are skipped.
type logRows struct {
	// scrolled is false while the log follows the newest move.
	scrolled bool
	// cursor is the selected move and bottom the last visible one, as indexes in the log.
	cursor, bottom int
}

// maxSkip limits how many moves are skipped in search of one to show.
const maxSkip = 256

// moves is the log with the moves that the filter selects. only is nil without a filter.
type moves struct {
	history.Log
	only *matching
}

// before returns the last move to show that is older than the i-th, or -1.
func (log moves) before(i int) int {
	if log.only != nil {
		return log.only.before(i)
	}
	i = min(i, log.Len())
	for n := 1; n <= maxSkip && i-n >= 0; n++ {
		if !log.At(i - n).Restated() {
			return i - n
		}
	}
	return -1
}

// after returns the first move to show that is newer than the i-th, or -1.
func (log moves) after(i int) int {
	if log.only != nil {
		return log.only.after(i)
	}
	for n := 1; n <= maxSkip && i+n < log.Len(); n++ {
		if !log.At(i + n).Restated() {
			return i + n
		}
	}
	return -1
}

// move moves the cursor by n moves within the log, and reports whether it is on a move.
func (r *logRows) move(log moves, n int) bool {
	r.scrolled = true
	for ; n < 0; n++ {
		if i := log.before(r.cursor); i >= 0 {
			r.cursor = i
		}
	}
	for ; n > 0; n-- {
		if i := log.after(r.cursor); i >= 0 {
			r.cursor = i
		} else {
			r.scrolled = false
			break
		}
	}
	return r.cursor < log.Len()
}

// settle keeps the cursor within the log and visible among height rows.
func (r *logRows) settle(log moves, height int) {
	last := log.before(log.Len())
	if !r.scrolled || r.cursor >= last {
		r.scrolled = false
		r.cursor, r.bottom = max(last, 0), max(last, 0)
		return
	}
	r.bottom = min(max(r.bottom, r.cursor), last)
	top := r.bottom
	for range height - 1 {
		if i := log.before(top); i >= 0 {
			top = i
		}
	}
	if r.cursor >= top {
		return
	}
	r.bottom = r.cursor
	for range height - 1 {
		if i := log.after(r.bottom); i >= 0 {
			r.bottom = i
		}
	}
}

// logPart draws the log, newest move at the bottom.
type logPart struct {
	keys     *keymap.Map
	frame    *session.Frame
	moves    moves
	rows     *logRows
	selected page.Selection
	focused  bool
}

// Draw draws the title and as many moves as fit, up from the last visible one.
func (v logPart) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	title := a.Row(0)
	x := rule(title, logPane, v.focused, numbered(logPane, v.filtered()))
	log := v.moves
	if v.rows.scrolled {
		title.Text(x, 0, theme.Dim, v.keys.Say(" older moves; {last-row} goes back to the newest "))
	}
	body := a.Sub(0, 1, a.W, a.H-1)
	lines := v.visible(body.H)
	if len(lines) == 0 && log.only != nil {
		body.Text(2, 0, theme.Dim, "The log shows the moves after which a pod matches the filter: none so far.")
		return
	}
	if len(lines) == 0 {
		for y, line := range canvas.Wrap(v.keys.Say("No pod has moved yet. Each move from one tier to another is listed here with its cause, newest last. {step-forward} goes to the first."), a.W-3) {
			body.Text(2, y, theme.Dim, line)
		}
		return
	}
	name := v.nameWidth(body.W, lines)
	for y, i := range lines { // rows start at the top until the log is full
		t := log.At(i)
		row := body.Row(y)
		v.row(row, t, name)
		switch {
		case v.focused && i == v.rows.cursor:
			row.Text(0, 0, canvas.Bold, theme.GlyphSelected)
			row.Restyle(theme.Chosen)
		case v.selected.Is(t.Pod) && v.focused:
			row.Text(0, 0, theme.Dim, "·")
		case v.selected.Is(t.Pod):
			row.Text(0, 0, canvas.Bold, theme.GlyphSelected)
		}
	}
}

// filtered returns the filter's part of the title.
func (v logPart) filtered() string {
	if v.moves.only == nil {
		return ""
	}
	return ", filtered"
}

// visible returns the moves visible in h lines, as indexes in the log, oldest first.
func (v logPart) visible(h int) []int {
	log := v.moves
	i := log.before(log.Len())
	if v.rows.scrolled {
		i = min(i, v.rows.bottom)
	}
	lines := make([]int, 0, max(h, 0))
	for ; i >= 0 && len(lines) < h; i = log.before(i) {
		lines = append(lines, i)
	}
	slices.Reverse(lines)
	return lines
}

// shortTimes reports whether rows of w cells show tenths of a second.
func shortTimes(w int) bool { return w < 100 }

// nameWidth returns the width of the pods' names in rows of w cells: what the visible ones need, as far as that leaves room for the
// cause.
func (v logPart) nameWidth(w int, lines []int) int {
	before := len(" 15:04:05.000 * ") + 1
	if shortTimes(w) {
		before -= len("00")
	}
	most := min(w-before-story.LongMove, 40)
	if most < leastName {
		return max(w-before-story.ShortMove, leastName)
	}
	needed := leastName
	for _, i := range lines {
		needed = max(needed, canvas.Width(story.PodName(v.moves.At(i).Pod.Key, most)))
	}
	return min(needed, most)
}

// leastName is the smallest width of a pod's name in the log.
const leastName = 14

// row draws one move with its pod, whose name has name cells.
func (v logPart) row(a canvas.Area, t *board.Transition, name int) {
	x := a.Text(1, 0, theme.Dim, story.MoveTime(t, v.frame.Zone, shortTimes(a.W)))
	x = a.Text(x+1, 0, theme.Tier(t.To), story.MoveProvenance(t)) + 1
	a.Text(x, 0, theme.Plain, canvas.TruncateMiddle(story.PodName(t.Pod.Key, name), name))
	x += name + 1
	story.DrawMove(a.Sub(x, 0, a.W-x, 1), t)
}
