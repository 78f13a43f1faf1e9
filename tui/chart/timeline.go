package chart

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// timeline draws one pod's life to scale, with a cursor on its moves.
type timeline struct {
	timed
	// moves are the pod's moves, oldest first, up to a limit. cursor is an index in moves.
	moves  []*board.Transition
	cursor int
	// follow is true while the newest move is selected.
	follow bool
	stays  []story.Stay
	whose  page.Selection // the pod of moves and stays
}

func newTimeline(d *page.UI) Chart { return &timeline{timed: timed{UI: d}} }

func (t *timeline) Reset()             { *t = timeline{timed: timed{UI: t.UI}} }
func (t *timeline) Key() keymap.ID     { return keymap.Timeline }
func (t *timeline) Name() string       { return "timeline" }
func (t *timeline) CannotOpen() string { return t.NotSelected() }

// Enter implements page.Page. It goes to the moment of the selected move.
func (t *timeline) Enter() tea.Cmd {
	if m := t.atCursor(); m != nil {
		t.follow = true // it will be the newest
		t.Session.Pause()
		t.Session.Seek(m.Time)
	}
	return nil
}

func (t *timeline) EnterName() string { return "go there" }

func (t *timeline) CannotEnter() string {
	if t.atCursor() == nil {
		return "no move is selected"
	}
	return ""
}

// Click implements page.Page. It selects the move nearest to the mouse.
func (t *timeline) Click(x, y int) tea.Cmd {
	if i, ok := t.moveNear(x - timelineNames); ok && y < t.h/2 {
		t.Move(i - t.cursor)
	}
	return nil
}

func (t *timeline) Wheel(by page.Turn) {
	if !t.turned(by) {
		t.Move(by.Rows / page.TurnRows)
	}
}

// timelineTiers returns the tiers with their own line, from the top.
func timelineTiers() [5]queue.Tier {
	return [...]queue.Tier{queue.InFlight, queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated}
}

// timelineNames is the width before the lines.
const timelineNames = 15

// shortestLife is the shortest default period.
const shortestLife = 2 * time.Second

// Settle implements page.Page. It collects the moves and updates window and cursor.
func (t *timeline) Settle(w, h int) {
	t.w, t.h = w, h
	f, pod := t.Frame, t.Pod()
	if t.whose != t.Selected {
		t.whose, t.follow, t.cursor, t.Window = t.Selected, true, 0, widget.Window{Cell: t.Cell}
	}
	cells := max(w-timelineNames-1, 1)
	if pod == nil {
		t.moves, t.stays = t.moves[:0], t.stays[:0]
		t.Window.Settle(cells, f.Now, widget.ScaleFor(story.LanesSpan, cells, 0))
		return
	}
	t.collect(pod)
	began, end := t.life(pod)
	fit := widget.ScaleFor(end.Sub(began)*21/20, cells, 0)
	if t.Cell == 0 {
		end = end.Add(2 * fit)
	} else if lead := f.Now.Add(time.Duration(cells/lanesLead) * t.Cell); end.After(lead) {
		end = lead
	}
	t.Window.Settle(cells, end, fit)
}

// collect loads pod's moves and stays.
func (t *timeline) collect(pod *board.Pod) {
	t.moves = t.moves[:0]
	for m := pod.Last; m != nil && len(t.moves) < story.MaxStays; m = m.Prev() {
		if !m.Restated() {
			t.moves = append(t.moves, m)
		}
	}
	slices.Reverse(t.moves)
	t.stays = story.Stays(t.stays, pod, t.Frame.Now, time.Time{})
	if t.follow || t.cursor >= len(t.moves) {
		t.cursor = max(len(t.moves)-1, 0)
	}
}

// life returns the period to show: from the pod's arrival until it left, or until some time after
// now.
func (t *timeline) life(pod *board.Pod) (began, end time.Time) {
	began, end = t.Frame.Now, t.Frame.Now
	if len(t.stays) > 0 {
		began = t.stays[0].From
		if last := t.stays[len(t.stays)-1]; last.Tier > queue.InFlight {
			end = last.From
		}
	}
	if wait := t.Frame.Wait(pod); end.Equal(t.Frame.Now) && wait.Until.After(end) {
		end = end.Add(min(wait.Until.Sub(end), max(end.Sub(began), shortestLife)/4))
	}
	return began, end
}

// Move moves the cursor by n moves.
func (t *timeline) Move(n int) {
	t.cursor = min(max(t.cursor+n, 0), max(len(t.moves)-1, 0))
	t.follow = t.cursor == len(t.moves)-1
	if m := t.atCursor(); m != nil && !t.Shown.Covers(m.Time) {
		// Scroll the move to three quarters of the width.
		t.End = m.Time.Add(time.Duration(t.Shown.Cells*3/4) * t.Shown.Cell)
	}
}

// moveNear returns the index of the move nearest to column x of the chart.
func (t *timeline) moveNear(x int) (i int, ok bool) {
	best := t.Shown.Cells
	for n, m := range t.moves {
		if d := max(x-t.Shown.Column(m.Time), t.Shown.Column(m.Time)-x); d < best {
			i, best, ok = n, d, true
		}
	}
	return i, ok
}

// atCursor returns the move at the cursor, or nil.
func (t *timeline) atCursor() *board.Transition {
	if t.cursor < len(t.moves) {
		return t.moves[t.cursor]
	}
	return nil
}

// Draw implements page.Page: the lines of the tiers, the attempts and what woke the pod; below, its
// moves and the explanation of the selected one.
func (t *timeline) Draw(a canvas.Area) {
	pod := t.Pod()
	if pod == nil {
		t.Title(a.Row(0), "timeline", "")
		t.empty(a.Sub(0, 1, a.W, a.H-1))
		return
	}
	t.Title(a.Row(0), "timeline of "+canvas.TruncateMiddle(format.Safe(pod.Key.String()), a.W/2), "")
	y := 1 + t.chart(a.Sub(0, 1, a.W, a.H-1), pod)
	if a.H >= 30 {
		y++
	}
	t.story(a.Sub(0, y, a.W, a.H-y))
}

// chart draws the part that is to scale, and returns its number of rows.
func (t *timeline) chart(a canvas.Area, pod *board.Pod) int {
	f, p := t.Frame, t.Shown
	to := func(y int) canvas.Area { return a.Sub(timelineNames, y, p.Cells, 1) }
	var marks []time.Time
	if m := t.atCursor(); m != nil {
		marks = append(marks, m.Time)
	}
	p.Axis(to(0), f, marks...)
	height := 1
	if a.H >= 34 {
		height = (a.H - 14) / 10
	}
	until := f.Wait(pod).Until
	y := 1
	for _, tier := range timelineTiers() {
		style := theme.Tier(tier)
		if pod.Tier == tier {
			style |= canvas.Bold
		}
		a.Text(1, y, style, theme.TierName(tier))
		for row := range height {
			t.tier(to(y+row), tier)
			if pod.Tier == tier && until.After(f.Now) {
				for x := max(p.Column(f.Now)+1, 0); x <= p.Column(until) && x < p.Cells; x++ {
					to(y+row).Text(x, 0, style, "░")
				}
			}
			if p.Covers(f.Now) {
				story.DrawNow(to(y+row).Sub(p.Column(f.Now), 0, 1, 1))
			}
		}
		y += height
	}
	t.attempts(a.Sub(0, y, a.W, 1), to(y))
	t.wakes(a.Sub(0, y+1, a.W, 1), to(y+1))
	if m := t.atCursor(); m != nil && p.Covers(m.Time) { // through the blank cells of all lines
		a.Sub(timelineNames+p.Column(m.Time), 0, 1, 1).Text(0, 0, theme.Chosen|canvas.Bold, glyphCursor)
		for row := 1; row < y; row++ {
			if cell := a.Sub(timelineNames+p.Column(m.Time), row, 1, 1); cell.Blank(0, 0) {
				cell.Text(0, 0, theme.Accent|canvas.Bold, "│")
			}
		}
	}
	return y + 2
}

// glyphCursor marks the selected move on the axis.
const glyphCursor = "┬"

// tier draws the times the pod was in tier, to half a column. Shorter stays are thin lines.
func (t *timeline) tier(a canvas.Area, tier queue.Tier) {
	p, style := t.Shown, theme.Tier(tier)
	half := p.Cell / 2
	for _, s := range t.stays {
		if s.Tier != tier || !s.From.Before(p.End()) || s.To.Before(p.From) {
			continue
		}
		for x := max(p.Column(s.From), 0); x <= p.Column(s.To) && x < a.W; x++ {
			begin, middle, end := p.At(x), p.At(x).Add(half), p.At(x+1)
			left, right := overlap(s, begin, middle) > half/2, overlap(s, middle, end) > half/2
			switch {
			case left && right:
				a.Text(x, 0, style, "█")
			case left:
				a.Text(x, 0, style, "▌")
			case right:
				a.Text(x, 0, style, "▐")
			case a.Blank(x, 0) && (overlap(s, begin, end) > 0 || s.From.Equal(s.To)):
				a.Text(x, 0, style, "│")
			}
		}
	}
}

// overlap returns the part of s between from and to.
func overlap(s story.Stay, from, to time.Time) time.Duration {
	if s.From.After(from) {
		from = s.From
	}
	if s.To.Before(to) {
		to = s.To
	}
	return max(0, to.Sub(from))
}

// attempts writes each attempt's number at its start. Where several coincide, the last one is
// shown.
func (t *timeline) attempts(row, a canvas.Area) {
	row.Text(1, 0, theme.Dim, "attempts")
	p, busy := t.Shown, -1
	for i, s := range t.stays {
		if s.Tier != queue.InFlight || !p.Covers(s.From) {
			continue
		}
		x, text := p.Column(s.From), s.Move.AttemptCount().String()
		if next := t.nextAttempt(i); next >= 0 && next < x+canvas.Width(text) {
			continue // no space before the next number
		}
		if x > busy {
			busy = a.Text(x, 0, theme.InFlight, text)
		}
	}
}

// nextAttempt returns the column of the first attempt after the i-th stay, or -1.
func (t *timeline) nextAttempt(i int) int {
	for _, s := range t.stays[i+1:] {
		if s.Tier == queue.InFlight {
			return t.Shown.Column(s.From)
		}
	}
	return -1
}

// wakes marks the events that woke the pod, with their labels if they fit.
func (t *timeline) wakes(row, a canvas.Area) {
	row.Text(1, 0, theme.Dim, "woken by")
	p := t.Shown
	for i := range t.stays {
		if !t.woken(i) || !p.Covers(t.stays[i].From) {
			continue
		}
		x, room := p.Column(t.stays[i].From), a.W
		for j := i + 1; j < len(t.stays); j++ {
			if t.woken(j) {
				room = min(room, p.Column(t.stays[j].From))
				break
			}
		}
		a.Text(x, 0, theme.Accent|canvas.Bold, "▲")
		if label := format.Safe(t.stays[i].Move.Event); room-x-2 >= min(len(label), 6) {
			a.Text(x+1, 0, theme.Accent, canvas.Truncate(label, room-x-2))
		}
	}
}

// woken reports whether the i-th stay started because an event or a timer woke the pod.
func (t *timeline) woken(i int) bool {
	s := t.stays[i]
	return s.Move.Event != "" && s.Move.Event != queue.ScheduleAttemptFailure && (s.Tier == queue.Active || s.Tier == queue.Backoff)
}

// whyLines returns how many of h lines are for the explanation of the selected move.
func whyLines(h int) int { return max(4, h*2/5) }

// story draws the moves, and the explanation of the selected one below or beside them.
func (t *timeline) story(a canvas.Area) {
	lines := whyLines(a.H)
	why := a.Sub(0, a.H-lines, a.W, lines)
	list := a.Sub(0, 0, a.W, a.H-lines)
	if a.W >= 140 && a.H >= 8 {
		list = a.Sub(0, 0, a.W*9/16, a.H)
		why = a.Sub(list.W+1, 0, a.W-list.W-1, a.H)
	}
	t.list(list)
	t.why(why)
}

func (t *timeline) list(a canvas.Area) {
	title := a.Row(0)
	title.Fill(theme.Dim, "─")
	x := title.Text(1, 0, canvas.Bold, " its moves "+format.Number(len(t.moves))+" ")
	if len(t.moves) == story.MaxStays {
		title.Text(x, 0, theme.Dim, "and older ones ")
	}
	rows := a.H - 1
	top := min(max(t.cursor-rows/2, 0), max(len(t.moves)-rows, 0))
	for y := range min(rows, len(t.moves)-top) {
		i := top + y
		m := t.moves[i]
		row := a.Row(1 + y)
		x := row.Text(1, 0, theme.Dim, story.MoveTime(m, t.Frame.Zone, a.W < 100))
		x = row.Text(x+1, 0, theme.Tier(m.To), theme.Provenance(m.Observed)) + 1
		if a.W >= 70 {
			lasted := ""
			if i > 0 {
				lasted = "+" + format.Duration(m.Time.Sub(t.moves[i-1].Time))
			}
			row.Right(x+7, 0, theme.Dim, lasted)
			x += 8
		}
		story.DrawMove(row.Sub(x, 0, a.W-x, 1), m)
		if i == t.cursor {
			row.Text(0, 0, canvas.Bold, theme.GlyphSelected)
			row.Restyle(theme.Chosen)
		}
	}
}

func (t *timeline) why(a canvas.Area) {
	m := t.atCursor()
	if m == nil || a.Empty() {
		return
	}
	title := a.Row(0)
	title.Fill(theme.Dim, "─")
	title.Text(1, 0, canvas.Bold, " why? ")
	var lines []story.Line
	for _, sentence := range t.Frame.Why(m) {
		lines = story.Wrap(lines, a.W-2, theme.Plain, format.Safe(sentence))
	}
	if message := m.Pod.Message; message != "" && m.Event == queue.ScheduleAttemptFailure {
		lines = story.Wrap(lines, a.W-2, theme.Dim, "The scheduler said: "+format.Safe(string(message)))
	}
	for y, l := range lines {
		a.Text(1, 1+y, l.Style, l.Text)
	}
	if rest := a.Sub(0, len(lines)+2, a.W, a.H-len(lines)-2); rest.H >= 6 {
		t.now(rest)
	}
}

// now draws the pod's current place, whichever move is selected.
func (t *timeline) now(a canvas.Area) {
	title := a.Row(0)
	title.Fill(theme.Dim, "─")
	title.Text(1, 0, canvas.Bold, " now ")
	d := story.Detail{Frame: t.Frame, Keys: t.Keys, Selected: t.Selected}
	for y, l := range d.Facts(t.Selected.Pod(t.Frame), a.W-2) {
		a.Text(1, 1+y, l.Style, l.Text)
	}
}

func (t *timeline) empty(a canvas.Area) {
	text := t.Keys.Say("No pod is selected. Select one with {row-down} and {row-up} on the board or in the lanes ({lanes}). This page draws its life to scale: each tier it was in, its attempts, what woke it, and why it moved.")
	if t.Selected.Any {
		text = format.Safe(t.Selected.Key.String()) + t.Keys.Say(" is not in the queue yet at this time. {step-forward} goes one move forward.")
	}
	widget.DrawEmpty(a, text)
}
