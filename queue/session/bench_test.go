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

// crowded returns an owner of a recording in which n pods wait in all tiers.
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
	o.seekEnd()
	return o
}

// TestFrameCost: a frame allocates the same at 100 pods and at 150,000.
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

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{100, 150_000} {
		o := crowded(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o.frame()
			}
		})
	}
}

// BenchmarkSeek goes to and fro in a history.
func BenchmarkSeek(b *testing.B) {
	o := crowded(100_000)
	h := o.recording
	b.ReportMetric(float64(h.ChangeCount()), "changes")
	at := 0
	for b.Loop() {
		at = (at + h.ChangeCount()*3/7) % h.ChangeCount()
		h.SetCursor(at)
	}
}
