package widget

import (
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/theme"
)

// TestAxis: the axis leaves out times that the marker would overlap.
func TestAxis(t *testing.T) {
	zero := time.Date(2026, 3, 1, 10, 36, 0, 0, time.UTC)
	p := Period{From: zero, Cell: time.Second, Cells: 40}
	for after, want := range map[time.Duration]string{
		12 * time.Second: "┬10:36:00───▼──┬10:36:15──────┬10:36:30─",
		15 * time.Second: "┬10:36:00──────▼10:36:15──────┬10:36:30─",
		18 * time.Second: "┬10:36:00──────┬──▼───────────┬10:36:30─",
	} {
		var c canvas.Canvas
		c.Reset(40, 1)
		p.Axis(c.Area(), &session.Frame{Moment: explain.Moment{Now: zero.Add(after)}})
		if got := ansi.Strip(c.String(theme.NewPalette(theme.None, true, false, false), nil)); got != want {
			t.Errorf("after %s\n%s, want\n%s", after, got, want)
		}
	}
}

// TestAxisWithAMark: the same for a chart's marks.
func TestAxisWithAMark(t *testing.T) {
	zero := time.Date(2026, 3, 1, 10, 36, 0, 0, time.UTC)
	p := Period{From: zero, Cell: time.Second, Cells: 40}
	var c canvas.Canvas
	c.Reset(40, 1)
	p.Axis(c.Area(), &session.Frame{Moment: explain.Moment{Now: zero.Add(12 * time.Second)}}, zero.Add(17*time.Second))
	if got, want := ansi.Strip(c.String(theme.NewPalette(theme.None, true, false, false), nil)), "┬10:36:00───▼──┬──────────────┬10:36:30─"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestPeriod: Column is the inverse of At at every scale.
func TestPeriod(t *testing.T) {
	zero := time.Date(2026, 3, 1, 10, 36, 0, 0, time.UTC)
	for _, cell := range scales {
		p := Period{From: zero, Cell: cell, Cells: 50}
		for _, x := range []int{0, 1, 17, 49} {
			if got := p.Column(p.At(x)); got != x {
				t.Errorf("at %s column %d is found as %d", cell, x, got)
			}
		}
		if before, after := p.Column(zero.Add(-1)), p.Column(p.End()); before != -1 || after != 50 {
			t.Errorf("at %s what lies outside is in columns %d and %d", cell, before, after)
		}
		if every, _ := p.ticks(); every < cell {
			t.Errorf("at %s there is a mark every %s", cell, every)
		}
	}
}
