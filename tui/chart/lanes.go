package chart

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// lanes shows the timelines of all pods, one below the other: at the top the pods that left the
// queue within the visible period, then the waiting ones, by arrival.
type lanes struct {
	timed
	// cursor is the lane that keys start from, top the first visible one, both as indexes at the
	// last draw: lanes come and go.
	cursor, top int
	placed      bool // the user moved cursor and top
	stays       []story.Stay
}

func newLanes(d *page.UI) Chart { return &lanes{timed: timed{UI: d}} }

func (l *lanes) Reset()         { *l = lanes{timed: timed{UI: l.UI}} }
func (l *lanes) Key() keymap.ID { return keymap.Lanes }
func (l *lanes) Name() string   { return "lanes" }
func (l *lanes) Layout() string { return "lanes" }

// Enter implements page.Page. It draws the selected pod's timeline.
func (l *lanes) Enter() tea.Cmd      { return l.Do(keymap.Timeline) }
func (l *lanes) EnterName() string   { return "timeline" }
func (l *lanes) CannotEnter() string { return l.NotSelected() }

// Move implements page.Page.
func (l *lanes) Move(n int) { l.selectLane(l.cursor + n) }

// selectLane selects the pod of the i-th lane, or of the nearest.
func (l *lanes) selectLane(i int) {
	all := l.Frame.Board.Lanes(l.Shown.From)
	l.cursor, l.placed = min(max(i, 0), max(all.Len()-1, 0)), true
	if p := all.At(l.cursor); p != nil {
		l.Choose(p)
	}
}

// Click implements page.Page. It selects a lane, or opens it if it is selected.
func (l *lanes) Click(_, y int) tea.Cmd {
	row := y - 2
	if row < 0 || row >= laneRows(l.h) {
		return nil
	}
	was := l.Selected
	l.selectLane(l.top + row)
	if was == l.Selected {
		return l.Do(keymap.Open)
	}
	return nil
}

func (l *lanes) Wheel(by page.Turn) {
	if !l.turned(by) {
		l.Move(by.Rows)
	}
}

// laneRows returns how many lanes fit into h lines, besides title, axis and legend.
func laneRows(h int) int { return max(0, h-3) }

// laneNames returns the width before the lanes on a screen of w cells.
func laneNames(w int) int {
	switch {
	case w >= 160:
		return 46
	case w >= 120:
		return 40
	}
	return min(max(w/5, 15), 24)
}

// Settle implements page.Page. It updates the window and the visible rows.
func (l *lanes) Settle(w, h int) {
	l.w, l.h = w, h
	f, selected := l.Frame, l.Pod()
	cells := max(w-laneNames(w)-1, 1)
	cell := l.Cell
	if cell == 0 {
		cell = widget.ScaleFor(widget.SinceStart(f, story.LanesSpan), cells-cells/lanesLead, 0)
	}
	l.Window.Settle(cells, f.Now.Add(time.Duration(cells/lanesLead)*cell), cell)
	all, rows := f.Board.Lanes(l.Shown.From), laneRows(h)
	n := all.Len()
	if selected != nil {
		if i := all.Index(selected); i >= 0 && i < n && all.At(i).Key == selected.Key {
			l.cursor, l.placed = i, true
		}
	}
	if !l.placed { // show mostly waiting pods
		l.top = all.Waiting() - rows/4
		l.cursor = all.Waiting()
	}
	l.cursor = min(max(l.cursor, 0), max(n-1, 0))
	l.top = min(max(l.top, l.cursor-rows+1), l.cursor)
	l.top = min(max(l.top, 0), max(n-rows, 0))
}

// Draw implements page.Page: title, axis, visible lanes and legend.
func (l *lanes) Draw(a canvas.Area) {
	f, p := l.Frame, l.Shown
	all, rows := f.Board.Lanes(p.From), laneRows(a.H)
	n, names := all.Len(), laneNames(a.W)
	seen := ""
	if n > rows {
		seen = fmt.Sprintf("%s–%s of %s · ", format.Number(l.top+1), format.Number(min(l.top+rows, n)), format.Number(n))
	}
	l.Title(a.Row(0), "lanes "+format.Number(n), seen)
	p.Axis(a.Sub(names, 1, p.Cells, 1), f)
	body := a.Sub(0, 2, a.W, rows)
	if n == 0 {
		l.empty(body)
	}
	until := time.Time{}
	for y := range min(rows, n-l.top) {
		pod := all.At(l.top + y)
		if pod == nil {
			break
		}
		row := body.Row(y)
		l.drawName(row.Sub(0, 0, names-1, 1), pod)
		l.stays = story.Stays(l.stays, pod, f.Now, p.From)
		if until = f.Now; pod.Tier <= queue.InFlight {
			until = f.Wait(pod).Until
		}
		story.DrawLane(row.Sub(names, 0, p.Cells, 1), p, l.stays, f.Now, until)
		if p.Covers(f.Now) {
			story.DrawNow(row.Sub(names+p.Column(f.Now), 0, 1, 1))
		}
		switch {
		case l.Selected.Row(l.Frame, pod):
			row.Text(0, 0, canvas.Bold, theme.GlyphSelected)
			row.Sub(0, 0, names-1, 1).Restyle(theme.Chosen)
		case l.cursor == l.top+y:
			row.Text(0, 0, theme.Dim, "·")
		}
	}
	story.DrawLegend(a.Row(a.H - 1))
}

// drawName draws the pod's name and, if they fit, its tier and attempts.
func (l *lanes) drawName(a canvas.Area, pod *board.Pod) {
	style := theme.Tier(pod.Tier)
	a.Text(1, 0, style, story.PodProvenance(pod))
	room := a.W - 3
	if a.W > 36 {
		room -= 19
		a.Right(a.W, 0, theme.Plain, words.AttemptCount{N: min(pod.Attempts, 999), AtLeast: pod.AttemptsAtLeast || pod.Attempts > 999}.String())
		a.Text(a.W-18, 0, style, theme.TierName(pod.Tier))
	}
	a.Text(3, 0, theme.Plain, canvas.TruncateMiddle(story.PodName(pod.Key, room), room))
}

func (l *lanes) empty(a canvas.Area) {
	text := "No pod was in the queue during this time. A lane starts when a pod enters the queue and ends when it is bound or deleted. {chart-earlier} shows earlier times, {chart-farther} more time, {play} starts playback."
	if l.Frame.Filter != "" {
		text = "No pod in the queue during this time matches the filter: press {back} twice to clear it."
	}
	widget.DrawEmpty(a, l.Keys.Say(text))
}
