package widget

import (
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// Period is a stretch of time drawn to scale: cells columns of cell each, from from on.
type Period struct {
	From  time.Time
	Cell  time.Duration
	Cells int
}

// Column returns the column of t, which may lie outside: below 0 or from cells on.
func (p Period) Column(t time.Time) int {
	d := t.Sub(p.From)
	if d < 0 {
		d -= p.Cell - 1 // round down
	}
	return int(min(max(d/p.Cell, -1), time.Duration(p.Cells)))
}

// At returns when column x begins.
func (p Period) At(x int) time.Time { return p.From.Add(time.Duration(x) * p.Cell) }

// End returns when the last column ends.
func (p Period) End() time.Time { return p.At(p.Cells) }

// Covers reports whether t is in sight.
func (p Period) Covers(t time.Time) bool { return !t.Before(p.From) && t.Before(p.End()) }

// scales are what a column of a chart can stand for.
var scales = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour,
}

// ScaleFor returns the smallest scale, at least least, at which cells columns hold d.
func ScaleFor(d time.Duration, cells int, least time.Duration) time.Duration {
	for _, s := range scales {
		if s >= least && s*time.Duration(max(cells, 1)) >= d {
			return s
		}
	}
	return scales[len(scales)-1]
}

// Window is which period a chart shows, as the person set it.
type Window struct {
	// Cell is what a column stands for. 0: whatever fits.
	Cell time.Duration
	// End is where it ends. Zero: it follows the moment shown.
	End time.Time
	// Shown is the period drawn last, least the smallest scale it may have.
	Shown Period
	Least time.Duration
}

// Settle makes the window show cells columns that end at end, unless the person chose another end, on the
// scale fit, unless the person chose another scale.
func (w *Window) Settle(cells int, end time.Time, fit time.Duration) {
	cell := w.Cell
	if cell == 0 {
		cell = fit
	}
	if !w.End.IsZero() && w.End.Before(end) {
		end = w.End
	} else {
		w.End = time.Time{}
	}
	// Columns begin at round times, so that what is drawn stands still while time passes.
	end = end.Add(cell - 1).Truncate(cell)
	w.Shown = Period{From: end.Add(-time.Duration(cells) * cell), Cell: cell, Cells: cells}
}

// following reports whether the window moves with the moment shown.
func (w *Window) following() bool { return w.End.IsZero() }

// Scroll moves the window by a number of columns.
func (w *Window) Scroll(columns int) {
	w.End = w.Shown.At(w.Shown.Cells + columns)
}

// Scale goes a number of scales up, to less detail, or down, and keeps the end in its place, or if it does
// not follow, the middle.
func (w *Window) Scale(steps int) {
	i := 0
	for i < len(scales)-1 && scales[i] < w.Shown.Cell {
		i++
	}
	i = min(max(i+steps, 0), len(scales)-1)
	for scales[i] < w.Least {
		i++
	}
	if !w.following() {
		middle := w.Shown.At(w.Shown.Cells / 2)
		w.End = middle.Add(time.Duration(w.Shown.Cells-w.Shown.Cells/2) * scales[i])
	}
	w.Cell = scales[i]
}

// Fit lets the chart choose again.
func (w *Window) Fit() { w.Cell, w.End = 0, time.Time{} }

// Title draws a chart's name, and at the right more, the scale, and how to go back to the moment shown.
func (w *Window) Title(a canvas.Area, name, more string) {
	a.Fill(theme.Dim, "─")
	x := a.Text(a.Text(1, 0, theme.Chosen|canvas.Bold, " "), 0, theme.Chosen|canvas.Bold, name)
	x = a.Text(x, 0, theme.Chosen|canvas.Bold, " ")
	right := " " + more + w.Shown.length() + " "
	if !w.following() {
		right = " earlier: 0 follows again ·" + right
	}
	if a.W-canvas.Width(right)-1 > x {
		a.Right(a.W-1, 0, theme.Dim, right)
	}
}

// DrawEmpty says in an empty chart what would be in it.
func DrawEmpty(a canvas.Area, text string) {
	for y, line := range canvas.Wrap(text, a.W-4) {
		a.Text(2, y+1, theme.Dim, line)
	}
}

// ticks returns how far apart the marks of an axis are and how they are written.
func (p Period) ticks() (every time.Duration, format string) {
	for _, every = range scales {
		if format = "15:04:05"; every < time.Second {
			format = "15:04:05.000"
		}
		if every/p.Cell >= time.Duration(len(format)+3) {
			break
		}
	}
	return every, format
}

// SinceStart is how much time a chart shows of itself: span, or less near the start.
func SinceStart(f *session.Frame, span time.Duration) time.Duration {
	if f.Fork != nil {
		return span
	}
	return min(max(f.Now.Sub(f.Start), span/8), span)
}

// Axis draws a line with the times of day, and where the moment of f is. A time that this would stand in is left out, and so
// is one in which one of marks, which the caller draws, would.
func (p Period) Axis(a canvas.Area, f *session.Frame, marks ...time.Time) {
	a.Fill(theme.Dim, "─")
	every, format := p.ticks()
	marks = append(slices.Clip(marks), f.Now)
	for t := p.From.Truncate(every); t.Before(p.End()); t = t.Add(every) {
		x := p.Column(t)
		if x < 0 {
			continue
		}
		a.Text(x, 0, theme.Dim, "┬")
		hidden := slices.ContainsFunc(marks, func(mark time.Time) bool {
			at := p.Column(mark)
			return p.Covers(mark) && at > x && at <= x+len(format)
		})
		if !hidden && x+1+len(format) <= a.W {
			a.Text(x+1, 0, theme.Dim, f.Zone.In(t).Format(format))
		}
	}
	if p.Covers(f.Now) {
		a.Text(p.Column(f.Now), 0, theme.Accent|canvas.Bold, "▼")
	}
}

// length says what a column stands for.
func (p Period) length() string { return shortDuration(p.Cell) + " a column" }

// shortDuration writes a round duration: 200ms, 5s, 2m, 1h.
func shortDuration(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return format.Number(int(d/time.Hour)) + "h"
	case d >= time.Minute && d%time.Minute == 0:
		return format.Number(int(d/time.Minute)) + "m"
	case d >= time.Second && d%time.Second == 0:
		return format.Number(int(d/time.Second)) + "s"
	default:
		return format.Number(int(d/time.Millisecond)) + "ms"
	}
}
