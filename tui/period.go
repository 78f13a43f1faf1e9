package tui

import (
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// period is a stretch of time drawn to scale: cells columns of cell each, from from on.
type period struct {
	from  time.Time
	cell  time.Duration
	cells int
}

// column returns the column of t, which may lie outside: below 0 or from cells on.
func (p period) column(t time.Time) int {
	d := t.Sub(p.from)
	if d < 0 {
		d -= p.cell - 1 // round down
	}
	return int(min(max(d/p.cell, -1), time.Duration(p.cells)))
}

// at returns when column x begins.
func (p period) at(x int) time.Time { return p.from.Add(time.Duration(x) * p.cell) }

// end returns when the last column ends.
func (p period) end() time.Time { return p.at(p.cells) }

// covers reports whether t is in sight.
func (p period) covers(t time.Time) bool { return !t.Before(p.from) && t.Before(p.end()) }

// scales are what a column of a chart can stand for.
var scales = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour,
}

// scaleFor returns the smallest scale, at least least, at which cells columns hold d.
func scaleFor(d time.Duration, cells int, least time.Duration) time.Duration {
	for _, s := range scales {
		if s >= least && s*time.Duration(max(cells, 1)) >= d {
			return s
		}
	}
	return scales[len(scales)-1]
}

// window is which period a chart shows, as the person set it.
type window struct {
	// cell is what a column stands for. 0: whatever fits.
	cell time.Duration
	// end is where it ends. Zero: it follows the moment shown.
	end time.Time
	// shown is the period drawn last, least the smallest scale it may have.
	shown period
	least time.Duration
}

// settle makes the window show cells columns that end at end, unless the person chose another end, on the
// scale fit, unless the person chose another scale.
func (w *window) settle(cells int, end time.Time, fit time.Duration) {
	cell := w.cell
	if cell == 0 {
		cell = fit
	}
	if !w.end.IsZero() && w.end.Before(end) {
		end = w.end
	} else {
		w.end = time.Time{}
	}
	// Columns begin at round times, so that what is drawn stands still while time passes.
	end = end.Add(cell - 1).Truncate(cell)
	w.shown = period{from: end.Add(-time.Duration(cells) * cell), cell: cell, cells: cells}
}

// following reports whether the window moves with the moment shown.
func (w *window) following() bool { return w.end.IsZero() }

// scroll moves the window by a number of columns.
func (w *window) scroll(columns int) {
	w.end = w.shown.at(w.shown.cells + columns)
}

// scale goes a number of scales up, to less detail, or down, and keeps the end in its place, or if it does
// not follow, the middle.
func (w *window) scale(steps int) {
	i := 0
	for i < len(scales)-1 && scales[i] < w.shown.cell {
		i++
	}
	i = min(max(i+steps, 0), len(scales)-1)
	for scales[i] < w.least {
		i++
	}
	if !w.following() {
		middle := w.shown.at(w.shown.cells / 2)
		w.end = middle.Add(time.Duration(w.shown.cells-w.shown.cells/2) * scales[i])
	}
	w.cell = scales[i]
}

// fit lets the chart choose again.
func (w *window) fit() { w.cell, w.end = 0, time.Time{} }

// title draws a chart's name, and at the right more, the scale, and how to go back to the moment shown.
func (w *window) title(a canvas.Area, name, more string) {
	a.Fill(dim, "─")
	x := a.Text(1, 0, chosen|canvas.Bold, " "+name+" ")
	right := " " + more + w.shown.length() + " "
	if !w.following() {
		right = " earlier: 0 follows again ·" + right
	}
	if a.W-canvas.Width(right)-1 > x {
		a.Right(a.W-1, 0, dim, right)
	}
}

// teach says in an empty chart what would be in it.
func teach(a canvas.Area, text string) {
	for y, line := range canvas.Wrap(text, a.W-4) {
		a.Text(2, y+1, dim, line)
	}
}

// ticks returns how far apart the marks of an axis are and how they are written.
func (p period) ticks() (every time.Duration, format string) {
	for _, every = range scales {
		if format = "15:04:05"; every < time.Second {
			format = "15:04:05.000"
		}
		if every/p.cell >= time.Duration(len(format)+3) {
			break
		}
	}
	return every, format
}

// sinceStart is how much time a chart shows of itself: span, or less near the start.
func sinceStart(f *session.Frame, span time.Duration) time.Duration {
	if f.Fork != nil {
		return span
	}
	return min(max(f.Now.Sub(f.Start), span/8), span)
}

// axis draws a line with the times of day, and where now is.
func (p period) axis(a canvas.Area, now time.Time) {
	a.Fill(dim, "─")
	every, format := p.ticks()
	for t := p.from.Truncate(every); t.Before(p.end()); t = t.Add(every) {
		x := p.column(t)
		if x < 0 {
			continue
		}
		a.Text(x, 0, dim, "┬")
		if label := t.UTC().Format(format); x+1+len(label) <= a.W {
			a.Text(x+1, 0, dim, label)
		}
	}
	if p.covers(now) {
		a.Text(p.column(now), 0, accent|canvas.Bold, "▼")
	}
}

// length says what a column stands for.
func (p period) length() string { return shortDuration(p.cell) + " a column" }

// shortDuration writes a round duration: 200ms, 5s, 2m, 1h.
func shortDuration(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return number(int(d/time.Hour)) + "h"
	case d >= time.Minute && d%time.Minute == 0:
		return number(int(d/time.Minute)) + "m"
	case d >= time.Second && d%time.Second == 0:
		return number(int(d/time.Second)) + "s"
	default:
		return number(int(d/time.Millisecond)) + "ms"
	}
}
