package widget

import (
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// Period is a time axis: Cells columns of Cell each, starting at From.
type Period struct {
	From  time.Time
	Cell  time.Duration
	Cells int
}

// Column returns the column of t, which may be outside: negative, or Cells and more.
func (p Period) Column(t time.Time) int {
	d := t.Sub(p.From)
	if d < 0 {
		d -= p.Cell - 1 // round down
	}
	return int(min(max(d/p.Cell, -1), time.Duration(p.Cells)))
}

// At returns when column x starts.
func (p Period) At(x int) time.Time { return p.From.Add(time.Duration(x) * p.Cell) }

// End returns when the last column ends.
func (p Period) End() time.Time { return p.At(p.Cells) }

// Covers reports whether t is within the period.
func (p Period) Covers(t time.Time) bool { return !t.Before(p.From) && t.Before(p.End()) }

// scales are the durations that a column can have.
var scales = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour,
}

// ScaleFor returns the smallest scale, at least least, at which d fits into cells columns.
func ScaleFor(d time.Duration, cells int, least time.Duration) time.Duration {
	for _, s := range scales {
		if s >= least && s*time.Duration(max(cells, 1)) >= d {
			return s
		}
	}
	return scales[len(scales)-1]
}

// Window is the period that a chart shows, as set by the user.
type Window struct {
	// Cell is the duration of a column. 0: chosen to fit.
	Cell time.Duration
	// End is the end of the window. Zero: it follows the moment shown.
	End time.Time
	// Shown is the period drawn last, Least the smallest scale allowed.
	Shown Period
	Least time.Duration
}

// Settle sets Shown to cells columns up to end at scale fit, unless the user chose another end or scale.
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
	// Columns start at round times, so that the chart stands still while time passes.
	end = end.Add(cell - 1).Truncate(cell)
	w.Shown = Period{From: end.Add(-time.Duration(cells) * cell), Cell: cell, Cells: cells}
}

// following reports whether the window moves with the moment shown.
func (w *Window) following() bool { return w.End.IsZero() }

// Scroll moves the window by a number of columns.
func (w *Window) Scroll(columns int) {
	w.End = w.Shown.At(w.Shown.Cells + columns)
}

// Scale goes a number of scales up, to less detail, or down. It keeps the end if the window follows, otherwise the middle.
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

// Fit resets the window to the chart's choice.
func (w *Window) Fit() { w.Cell, w.End = 0, time.Time{} }

// Title draws a chart's name, and at the right more, the scale, and the key that follows the moment shown again.
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

// DrawEmpty draws what an empty chart would show.
func DrawEmpty(a canvas.Area, text string) {
	for y, line := range canvas.Wrap(text, a.W-4) {
		a.Text(2, y+1, theme.Dim, line)
	}
}

// ticks returns the distance between the marks of an axis and the format of their times.
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

// SinceStart returns how much time a chart shows by default: span, or less near the start.
func SinceStart(f *session.Frame, span time.Duration) time.Duration {
	if f.Fork != nil {
		return span
	}
	return min(max(f.Now.Sub(f.Start), span/8), span)
}

// Axis draws a line with times of day and a marker at the moment of f. It leaves out times that would overlap the marker or one of
// marks, which the caller draws.
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

// length returns the duration of a column in words.
func (p Period) length() string { return shortDuration(p.Cell) + " a column" }

// shortDuration formats a round duration: 200ms, 5s, 2m, 1h.
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
