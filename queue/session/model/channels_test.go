package model

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
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

// TestMissedTellsNoRate: what a list shows of requests, and Events that come with it, were made at any time since the watch ended. They
// tell neither that requests wait for each other, nor that Events do.
func TestMissedTellsNoRate(t *testing.T) {
	for _, watch := range []string{sources.PodsWatch, sources.EventsWatch, ""} {
		f := NewLiveFeed(world.Config(t))
		t.Cleanup(f.Close)
		s, missed := f.Shadow.oracle.channels, sources.Gap{Since: world.At(5), Until: world.At(20)}
		status := sources.Status{Resources: []sources.Resource{{Name: watch, Unheard: missed}}}
		f.Arrive([]sources.Event{{Time: world.At(6), Fact: &sources.FailedAttempt{Pod: world.Key("web"), UID: "web"}}}, world.At(20.05), status)
		for range 200 {
			s.requested(world.At(20))
		}
		if got, want := s.saturated(world.At(20)), watch == sources.EventsWatch; got != want {
			t.Errorf("%q was not heard: requests wait: %t", watch, got)
		}
		if got, want := s.eventsWait(), watch == sources.PodsWatch; got != want {
			t.Errorf("%q was not heard: Events wait: %t", watch, got)
		}
	}
}
