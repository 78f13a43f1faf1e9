package flush

import (
	"testing"
	"time"
)

// TestSawBackoff: the flushes were thought to run at each second's 500th millisecond.
func TestSawBackoff(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	for _, c := range []struct {
		name            string
		after, by, want int
	}{
		{"it ran as thought", 1400, 1510, 1500},
		{"it was late, by as much as the pod's backoff went on, at the least", 1520, 1900, 1520},
		{"it was early, by as much as the pod's attempt was, at the least", 1600, 2490, 2490},
		{"it was not between, so it was at the end of the backoff", 1520, 1510, 1520},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Ticks{Backoff: at(500), Leftover: at(500)}
			if got := k.SawBackoff(at(c.after), at(c.by)); !got.Equal(at(c.want)) {
				t.Errorf("it ran at %s, want %s", got, at(c.want))
			}
			if next, _, _ := k.Next(at(c.want)); next.Sub(at(c.want)) != time.Second {
				t.Errorf("the next one is %s later", next.Sub(at(c.want)))
			}
		})
	}
}
