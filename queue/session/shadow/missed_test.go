package shadow

import (
	"testing"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestMissedTellsNoRate: what a list shows of requests, and Events that come with it, were made at any time since the watch ended. They
// tell neither that requests wait for each other, nor that Events do.
func TestMissedTellsNoRate(t *testing.T) {
	for _, watch := range []string{sources.PodsWatch, sources.EventsWatch, ""} {
		f := NewLiveFeed(world.Config(t))
		t.Cleanup(f.Close)
		s, missed := f.Shadow.oracle.channels, sources.Gap{Since: world.At(5), Until: world.At(20)}
		status := sources.Status{Resources: []sources.Resource{{Name: watch, Gap: missed}}}
		f.Arrive([]sources.Event{{Time: world.At(6), Fact: &sources.FailedAttempt{Pod: world.Key("web"), UID: "web"}}}, world.At(20.05), status)
		for range 200 {
			s.RecordRequest(world.At(20))
		}
		if got, want := s.Saturated(world.At(20)), watch == sources.EventsWatch; got != want {
			t.Errorf("%q was not heard: requests wait: %t", watch, got)
		}
		if got, want := s.Events.Backlogged(s.Until), watch == sources.PodsWatch; got != want {
			t.Errorf("%q was not heard: Events wait: %t", watch, got)
		}
	}
}
