package model

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/world"
)

// TestSaturated: the scheduler's client may make a hundred requests at once, and fifty a second after that.
func TestSaturated(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds int
		rate    int // requests a second
		want    bool
	}{
		{"a burst", 1, 80, false},
		{"a larger burst", 1, 200, true},
		{"a long time", 20, 50, true},
		{"a long time, fewer", 20, 35, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newChannels(world.Config(t), true)
			for i := range c.seconds {
				for range c.rate {
					s.requested(world.At(float64(i)))
				}
			}
			if end := world.At(float64(c.seconds - 1)); s.saturated(end) != c.want || s.saturated(end.Add(5*time.Second)) {
				t.Errorf("saturated: %v, and 5 s later %v", s.saturated(end), s.saturated(end.Add(5*time.Second)))
			}
		})
	}
}
