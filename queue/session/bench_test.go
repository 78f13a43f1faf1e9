package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// crowded returns an owner of a recording with n waiting pods in all tiers.
func crowded(n int) *owner {
	rec := &sources.Recording{Name: "crowd"}
	add := func(i int, m sources.Move) {
		m.Pod = world.Key(fmt.Sprintf("pod-%06d", i))
		rec.Events = append(rec.Events, sources.Event{Time: world.Noon.Add(time.Duration(len(rec.Events)) * time.Microsecond), Fact: &m})
	}
	for i := range n {
		add(i, sources.Move{To: sources.TierActive, Event: "UnscheduledPodAdd"})
		if i%4 > 0 {
			add(i, sources.Move{To: sources.TierInFlight})
			add(i, sources.Move{To: sources.TierUnschedulable, Event: queue.ScheduleAttemptFailure, Plugins: []string{"NodeResourcesFit"}})
		}
		if i%4 > 1 {
			add(i, sources.Move{To: sources.TierBackoff, Event: "NodeAdd"})
		}
	}
	o := newOwner(rec, timeline.Options{Paused: true})
	o.seek(o.recording.End)
	return o
}

// TestFrameCost: a frame takes the same allocations with 100 pods and with 150,000.
func TestFrameCost(t *testing.T) {
	allocs := func(n int) float64 {
		o := crowded(n)
		return testing.AllocsPerRun(100, func() { o.frame() })
	}
	crowd := 150_000
	if testing.Short() {
		crowd = 20_000
	}
	few, many := allocs(100), allocs(crowd)
	if many > few {
		t.Errorf("a frame takes %v allocations at 100 pods and %v at %d", few, many, crowd)
	}
}
