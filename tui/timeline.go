package tui

import (
	"slices"
	"strconv"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// timelineView is one pod's life to scale, and a cursor on its moves.
type timelineView struct {
	window
	// moves are the pod's, oldest first, as many as are followed back; cursor is a place among them.
	moves  []*session.Transition
	cursor int
	// follow is true while the newest move is the selected one.
	follow bool
	stays  []stay
	pod    selection // of whom moves are
}

// timelineTiers are the tiers that have a line of their own, from the top.
func timelineTiers() [5]queue.Tier {
	return [...]queue.Tier{queue.InFlight, queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated}
}

// timelineNames is the width of what stands before the lines.
const timelineNames = 15

// shortestLife is the least time that a timeline shows unless the person chose a scale.
const shortestLife = 2 * time.Second

// settle collects the moves and puts the window and the cursor in their place.
func (v *timelineView) settle(f *session.Frame, s selection, w int) {
	pod := s.pod(f)
	if v.pod != s {
		*v = timelineView{moves: v.moves, stays: v.stays, pod: s, follow: true, window: window{cell: v.cell}}
	}
	cells := max(w-timelineNames-1, 1)
	if pod == nil {
		v.moves, v.stays = v.moves[:0], v.stays[:0]
		v.window.settle(cells, f.Now, scaleFor(lanesSpan, cells, 0))
		return
	}
	v.collect(f, pod)
	began, end := v.life(f, pod)
	fit := scaleFor(end.Sub(began)*21/20, cells, 0)
	if v.cell == 0 {
		end = end.Add(2 * fit)
	} else if lead := f.Now.Add(time.Duration(cells/lanesLead) * v.cell); end.After(lead) {
		end = lead
	}
	v.window.settle(cells, end, fit)
}

// collect takes in pod's moves and stays.
func (v *timelineView) collect(f *session.Frame, pod *session.Pod) {
	v.moves = v.moves[:0]
	for t := pod.Last; t != nil && len(v.moves) < maxStays; t = t.Prev {
		if !t.Restated() {
			v.moves = append(v.moves, t)
		}
	}
	slices.Reverse(v.moves)
	v.stays = stays(v.stays, pod, f.Now, time.Time{})
	if v.follow || v.cursor >= len(v.moves) {
		v.cursor = max(len(v.moves)-1, 0)
	}
}

// life is from when to when there is something to show: since pod came, until it left, or for some of what is
// to come.
func (v *timelineView) life(f *session.Frame, pod *session.Pod) (began, end time.Time) {
	began, end = f.Now, f.Now
	if len(v.stays) > 0 {
		began = v.stays[0].from
		if last := v.stays[len(v.stays)-1]; last.tier > queue.InFlight {
			end = last.from
		}
	}
	if wait := f.Wait(pod); end.Equal(f.Now) && wait.Until.After(end) {
		end = end.Add(min(wait.Until.Sub(end), max(end.Sub(began), shortestLife)/4))
	}
	return began, end
}

// move moves the cursor by n moves.
func (v *timelineView) move(n int) {
	v.cursor = min(max(v.cursor+n, 0), max(len(v.moves)-1, 0))
	v.follow = v.cursor == len(v.moves)-1
	if t := v.selected(); t != nil && !v.shown.covers(t.Time) {
		// The move comes into sight a quarter from the left.
		v.end = t.Time.Add(time.Duration(v.shown.cells*3/4) * v.shown.cell)
	}
}

// moveNear returns the move nearest to column x of the chart.
func (v *timelineView) moveNear(x int) (i int, ok bool) {
	best := v.shown.cells
	for n, t := range v.moves {
		if d := max(x-v.shown.column(t.Time), v.shown.column(t.Time)-x); d < best {
			i, best, ok = n, d, true
		}
	}
	return i, ok
}

// selected is the move at the cursor, or nil.
func (v *timelineView) selected() *session.Transition {
	if v.cursor < len(v.moves) {
		return v.moves[v.cursor]
	}
	return nil
}

// timelinePane draws the timeline.
type timelinePane struct {
	frame    *session.Frame
	view     *timelineView
	selected selection
}

// Draw draws the lines of the tiers, the attempts and what woke the pod; below, its moves and why the
// selected one was made.
func (t timelinePane) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	pod := t.selected.pod(t.frame)
	if pod == nil {
		t.view.title(a.Row(0), "timeline", "")
		t.empty(a.Sub(0, 1, a.W, a.H-1))
		return
	}
	t.view.title(a.Row(0), "timeline of "+canvas.Middle(safe(pod.Key.String()), a.W/2), "")
	y := 1 + t.chart(a.Sub(0, 1, a.W, a.H-1), pod)
	if a.H >= 30 {
		y++
	}
	t.story(a.Sub(0, y, a.W, a.H-y))
}

// chart draws all that is to scale and returns how many rows it took.
func (t timelinePane) chart(a canvas.Area, pod *session.Pod) int {
	v, f := t.view, t.frame
	p := v.shown
	to := func(y int) canvas.Area { return a.Sub(timelineNames, y, p.cells, 1) }
	p.axis(to(0), f.Now)
	height := 1
	if a.H >= 34 {
		height = (a.H - 14) / 10
	}
	until := f.Wait(pod).Until
	y := 1
	for _, tier := range timelineTiers() {
		style := tierStyle(tier)
		if pod.Tier == tier {
			style |= canvas.Bold
		}
		a.Text(1, y, style, tierName(tier))
		for row := range height {
			t.tier(to(y+row), tier)
			if pod.Tier == tier && until.After(f.Now) {
				for x := max(p.column(f.Now)+1, 0); x <= p.column(until) && x < p.cells; x++ {
					to(y+row).Text(x, 0, style, "░")
				}
			}
			if p.covers(f.Now) {
				nowLine(to(y+row).Sub(p.column(f.Now), 0, 1, 1))
			}
		}
		y += height
	}
	t.attempts(a.Sub(0, y, a.W, 1), to(y))
	t.wakes(a.Sub(0, y+1, a.W, 1), to(y+1))
	if m := v.selected(); m != nil && p.covers(m.Time) { // through all lines, where nothing is
		a.Sub(timelineNames+p.column(m.Time), 0, 1, 1).Text(0, 0, chosen|canvas.Bold, glyphCursor)
		for row := 1; row < y; row++ {
			if cell := a.Sub(timelineNames+p.column(m.Time), row, 1, 1); cell.Blank(0, 0) {
				cell.Text(0, 0, accent|canvas.Bold, "│")
			}
		}
	}
	return y + 2
}

// glyphCursor marks the selected move on the axis.
const glyphCursor = "┬"

// tier draws when the pod was in tier, to half a column. A shorter stay shows as a thin line.
func (t timelinePane) tier(a canvas.Area, tier queue.Tier) {
	p, style := t.view.shown, tierStyle(tier)
	half := p.cell / 2
	for _, s := range t.view.stays {
		if s.tier != tier || !s.from.Before(p.end()) || s.to.Before(p.from) {
			continue
		}
		for x := max(p.column(s.from), 0); x <= p.column(s.to) && x < a.W; x++ {
			begin, middle, end := p.at(x), p.at(x).Add(half), p.at(x+1)
			left, right := overlap(s, begin, middle) > half/2, overlap(s, middle, end) > half/2
			switch {
			case left && right:
				a.Text(x, 0, style, "█")
			case left:
				a.Text(x, 0, style, "▌")
			case right:
				a.Text(x, 0, style, "▐")
			case a.Blank(x, 0) && (overlap(s, begin, end) > 0 || s.from.Equal(s.to)):
				a.Text(x, 0, style, "│")
			}
		}
	}
}

// overlap is how much of s is between from and to.
func overlap(s stay, from, to time.Time) time.Duration {
	if s.from.After(from) {
		from = s.from
	}
	if s.to.Before(to) {
		to = s.to
	}
	return max(0, to.Sub(from))
}

// attempts writes each attempt's number where it began, and where several fall together, the last with a +.
func (t timelinePane) attempts(row, a canvas.Area) {
	row.Text(1, 0, dim, "attempts")
	p, busy := t.view.shown, -1
	for i, s := range t.view.stays {
		if s.tier != queue.InFlight || !p.covers(s.from) {
			continue
		}
		x, text := p.column(s.from), strconv.Itoa(s.move.Attempts)
		if next := t.nextAttempt(i); next >= 0 && next < x+len(text) {
			continue // the later one has the room
		}
		if x > busy {
			busy = a.Text(x, 0, inFlight, text)
		}
	}
}

// nextAttempt is the column of the first attempt after the i-th stay, or -1.
func (t timelinePane) nextAttempt(i int) int {
	for _, s := range t.view.stays[i+1:] {
		if s.tier == queue.InFlight {
			return t.view.shown.column(s.from)
		}
	}
	return -1
}

// wakes marks the events that woke the pod, with their labels where there is room.
func (t timelinePane) wakes(row, a canvas.Area) {
	row.Text(1, 0, dim, "woken by")
	p := t.view.shown
	for i := range t.view.stays {
		if !t.woken(i) || !p.covers(t.view.stays[i].from) {
			continue
		}
		x, room := p.column(t.view.stays[i].from), a.W
		for j := i + 1; j < len(t.view.stays); j++ {
			if t.woken(j) {
				room = min(room, p.column(t.view.stays[j].from))
				break
			}
		}
		a.Text(x, 0, accent|canvas.Bold, "▲")
		if label := safe(t.view.stays[i].move.Event); room-x-2 >= min(len(label), 6) {
			a.Text(x+1, 0, accent, canvas.Truncate(label, room-x-2))
		}
	}
}

// woken reports whether the i-th stay began because an event, or the passing of time, let the pod go on.
func (t timelinePane) woken(i int) bool {
	s := t.view.stays[i]
	return s.move.Event != "" && s.move.Event != queue.ScheduleAttemptFailure && (s.tier == queue.Active || s.tier == queue.Backoff)
}

// whyLines is how many lines of h are kept for why the selected move was made.
func whyLines(h int) int { return max(4, h*2/5) }

// story draws the moves, and why the selected one was made: below, or where there is room, beside them.
func (t timelinePane) story(a canvas.Area) {
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

func (t timelinePane) list(a canvas.Area) {
	v := t.view
	title := a.Row(0)
	title.Fill(dim, "─")
	x := title.Text(1, 0, canvas.Bold, " its moves "+number(len(v.moves))+" ")
	if len(v.moves) == maxStays {
		title.Text(x, 0, dim, "and older ones ")
	}
	rows := a.H - 1
	top := min(max(v.cursor-rows/2, 0), max(len(v.moves)-rows, 0))
	for y := range min(rows, len(v.moves)-top) {
		i := top + y
		m := v.moves[i]
		row := a.Row(1 + y)
		x := row.Text(1, 0, dim, moveTime(m, a.W < 100))
		x = row.Text(x+1, 0, tierStyle(m.To), provenance(m.Observed)) + 1
		if a.W >= 70 {
			lasted := ""
			if i > 0 {
				lasted = "+" + lasting(m.Time.Sub(v.moves[i-1].Time))
			}
			row.Right(x+7, 0, dim, lasted)
			x += 8
		}
		drawMove(row.Sub(x, 0, a.W-x, 1), m)
		if i == v.cursor {
			row.Text(0, 0, canvas.Bold, glyphSelected)
			row.Restyle(chosen)
		}
	}
}

func (t timelinePane) why(a canvas.Area) {
	m := t.view.selected()
	if m == nil || a.Empty() {
		return
	}
	title := a.Row(0)
	title.Fill(dim, "─")
	title.Text(1, 0, canvas.Bold, " why? ")
	var lines []line
	for _, sentence := range t.frame.Why(m) {
		lines = wrap(lines, a.W-2, plain, safe(sentence))
	}
	if message := m.Pod.Message; message != "" && m.Event == queue.ScheduleAttemptFailure {
		lines = wrap(lines, a.W-2, dim, "The scheduler said: "+safe(string(message)))
	}
	for y, l := range lines {
		a.Text(1, 1+y, l.style, l.text)
	}
	if rest := a.Sub(0, len(lines)+2, a.W, a.H-len(lines)-2); rest.H >= 6 {
		t.now(rest)
	}
}

// now draws where the pod is at the moment shown, whichever move is selected.
func (t timelinePane) now(a canvas.Area) {
	title := a.Row(0)
	title.Fill(dim, "─")
	title.Text(1, 0, canvas.Bold, " now ")
	d := detail{frame: t.frame, selected: t.selected}
	for y, l := range d.facts(t.selected.pod(t.frame), a.W-2) {
		a.Text(1, 1+y, l.style, l.text)
	}
}

func (t timelinePane) empty(a canvas.Area) {
	text := "No pod is selected. Select one with j and k on the board or in the lanes (l); here its life is drawn to scale: every tier it was in, each attempt, what woke it, and why it moved."
	if t.selected.any {
		text = "The queue does not know " + safe(t.selected.key.String()) + " at the time shown: it is not there yet. . goes one move forward."
	}
	teach(a, text)
}
