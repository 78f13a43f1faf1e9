package queue

import (
	"testing"
	"time"
)

// TestAdjustBackoff: the flushes are expected at 500 ms of each second.
func TestAdjustBackoff(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	for _, c := range []struct {
		name            string
		after, by, want int
	}{
		{"as expected", 1400, 1510, 1500},
		{"late: not before the end of the backoff", 1520, 1900, 1520},
		{"early: not after the attempt", 1600, 2490, 2490},
		{"an empty range: at the end of the backoff", 1520, 1510, 1520},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Ticks{Backoff: at(500), Leftover: at(500)}
			if got := k.AdjustBackoff(at(c.after), at(c.by)); !got.Equal(at(c.want)) {
				t.Errorf("the flush ran at %s, want %s", got, at(c.want))
			}
			if next, _, _ := k.Next(at(c.want)); next.Sub(at(c.want)) != time.Second {
				t.Errorf("the next flush is %s later, want 1 s", next.Sub(at(c.want)))
			}
		})
	}
}
