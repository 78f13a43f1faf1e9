package tui

import (
	"fmt"
	"strconv"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// lanesView is the lanes of all pods through time, one below the other: those that left the queue within the
// time shown at the top, then those that are there, by when they came.
type lanesView struct {
	window
	// cursor is the lane that the next key moves from, top the first in sight, both as the pods they were
	// when drawn last: lanes come and go.
	cursor, top int
	placed      bool // cursor and top are the person's
	stays       []stay
}

// lanesLead is how much of the width is for what is to come.
const lanesLead = 8

// lanesSpan is how much time the lanes show, unless the person chose another scale.
const lanesSpan = time.Minute

// laneRows is how many lanes fit into h lines: the rest is title, axis and legend.
func laneRows(h int) int { return max(0, h-3) }

// laneNames is the width of what stands before the lanes on a screen of w cells.
func laneNames(w int) int {
	switch {
	case w >= 160:
		return 46
	case w >= 120:
		return 40
	}
	return min(max(w/5, 15), 24)
}

// settle puts the window and the rows in their place.
func (v *lanesView) settle(f *session.Frame, selected *session.Pod, w, h int) {
	cells := max(w-laneNames(w)-1, 1)
	cell := v.cell
	if cell == 0 {
		cell = scaleFor(sinceStart(f, lanesSpan), cells-cells/lanesLead, 0)
	}
	v.window.settle(cells, f.Now.Add(time.Duration(cells/lanesLead)*cell), cell)
	lanes, rows := f.Board.Lanes(v.shown.from), laneRows(h)
	n := lanes.Len()
	if selected != nil {
		if i := lanes.Index(selected); i >= 0 && i < n && lanes.At(i).Key == selected.Key {
			v.cursor, v.placed = i, true
		}
	}
	if !v.placed { // most of those in sight are there still
		v.top = lanes.Waiting() - rows/4
		v.cursor = lanes.Waiting()
	}
	v.cursor = min(max(v.cursor, 0), max(n-1, 0))
	v.top = min(max(v.top, v.cursor-rows+1), v.cursor)
	v.top = min(max(v.top, 0), max(n-rows, 0))
}

// lanesPane draws the lanes.
type lanesPane struct {
	frame    *session.Frame
	view     *lanesView
	selected selection
}

// Draw draws title, axis, the lanes in sight and what their glyphs mean.
func (l lanesPane) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	f, p := l.frame, l.view.shown
	lanes, rows := f.Board.Lanes(p.from), laneRows(a.H)
	n, names := lanes.Len(), laneNames(a.W)
	seen := ""
	if n > rows {
		seen = fmt.Sprintf("%s–%s of %s · ", number(l.view.top+1), number(min(l.view.top+rows, n)), number(n))
	}
	l.view.title(a.Row(0), "lanes "+number(n), seen)
	p.axis(a.Sub(names, 1, p.cells, 1), f.Now)
	body := a.Sub(0, 2, a.W, rows)
	if n == 0 {
		l.empty(body)
	}
	until := time.Time{}
	for y := range min(rows, n-l.view.top) {
		pod := lanes.At(l.view.top + y)
		if pod == nil {
			break
		}
		row := body.Row(y)
		l.name(row.Sub(0, 0, names-1, 1), pod)
		l.view.stays = stays(l.view.stays, pod, f.Now, p.from)
		if until = f.Now; pod.Tier <= queue.InFlight {
			until = f.Wait(pod).Until
		}
		drawLane(row.Sub(names, 0, p.cells, 1), p, l.view.stays, f.Now, until)
		if p.covers(f.Now) {
			nowLine(row.Sub(names+p.column(f.Now), 0, 1, 1))
		}
		switch {
		case l.selected.row(l.frame, pod):
			row.Text(0, 0, canvas.Bold, glyphSelected)
			row.Sub(0, 0, names-1, 1).Restyle(chosen)
		case l.view.cursor == l.view.top+y:
			row.Text(0, 0, dim, "·")
		}
	}
	laneLegend(a.Row(a.H - 1))
}

// nowLine marks the moment shown where no lane is.
func nowLine(a canvas.Area) {
	if a.Blank(0, 0) {
		a.Text(0, 0, dim, "┊")
	}
}

// name draws the pod's name, and where there is room its tier and attempts.
func (l lanesPane) name(a canvas.Area, pod *session.Pod) {
	style := tierStyle(pod.Tier)
	a.Text(1, 0, style, podProvenance(pod))
	room := a.W - 3
	if a.W > 36 {
		room -= 19
		a.Right(a.W, 0, plain, strconv.Itoa(min(pod.Attempts, 999)))
		a.Text(a.W-18, 0, style, tierName(pod.Tier))
	}
	a.Text(3, 0, plain, canvas.Middle(podName(pod.Key, room), room))
}

func (l lanesPane) empty(a canvas.Area) {
	text := "No pod was in the queue in the time shown. A lane begins when a pod comes to the queue and ends when it is bound or deleted: h or ← shows earlier times, - more time, space lets time pass."
	if l.frame.Filter != "" {
		text = "No pod that was in the queue in the time shown matches the filter: esc, then esc again drops it."
	}
	teach(a, text)
}
