package session

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// TestBehind: a live session reports its lag: half a second, or half a second more than the Events' delay.
func TestBehind(t *testing.T) {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	stream := &handed{}
	o := NewLive(stream, timeline.Options{}).owner
	t.Cleanup(o.close)
	for _, c := range []struct {
		name     string
		at, made time.Duration // the time of the query, and of the attempt in an Event then
		want     time.Duration
	}{
		{"it has just come", 0, 0, 500 * time.Millisecond},
		{"an Event comes late", 20 * time.Second, 13 * time.Second, 7500 * time.Millisecond},
		{"the next one", 20500 * time.Millisecond, 14 * time.Second, 7 * time.Second},
		{"none is late any more", 22 * time.Second, 0, 500 * time.Millisecond},
	} {
		stream.events, stream.status.Attached = nil, start
		if c.made > 0 {
			stream.events = []sources.Event{{Time: start.Add(c.made), Fact: &sources.FailedAttempt{Pod: types.NamespacedName{Name: "web"}, UID: "web"}}}
		}
		o.poll(start.Add(c.at))
		if got := o.liveFrame().Behind; got != c.want {
			t.Errorf("%s: it is %v behind, want %v", c.name, got, c.want)
		}
	}
}
