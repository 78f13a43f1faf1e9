package widget

import (
	"testing"
	"time"
)

// A column is found again by the time at which it begins, at every scale.
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
