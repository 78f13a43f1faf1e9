package explain

import (
	"testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/world"
)

// TestIfWoken: an event for a pending plugin skips the backoff.
func TestIfWoken(t *testing.T) {
	f := &Moment{Now: world.At(11.5), Options: queue.Defaults()}
	p := &board.Pod{PodInfo: queue.PodInfo{
		Tier: queue.Unschedulable, Timestamp: world.At(10.7), Attempts: 1, UnschedulableCount: 1, BackoffExpiry: world.At(11), PendingPlugins: []string{"DynamicResources"},
	}}
	f.Options.PopFromBackoffQ = true
	want := "Attempt 1 failed at 12:00:10.7. Backoff: 1 s, until 12:00:12. " +
		"An event before then moves it to backoffQ, where it is tried early if activeQ is empty; an event for DynamicResources moves it straight to activeQ."
	if got := f.explainWoken(p); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f.Now = world.At(12)
	if w, ok := f.IfWoken(p); !ok || w.Tier != queue.Active {
		t.Errorf("after its backoff it goes to %+v, %v", w, ok)
	}
	p.Tier = queue.Backoff
	if _, ok := f.IfWoken(p); ok {
		t.Error("a pod in backoffQ waits for an event")
	}
}

// TestRoundedBySchedulersClock: for a clock that is 380 ms ahead of the scheduler's, its seconds begin 380 ms late.
func TestRoundedBySchedulersClock(t *testing.T) {
	m := &Moment{Now: world.At(11.5), Options: queue.Defaults()}
	p := &board.Pod{PodInfo: queue.PodInfo{Timestamp: world.At(10.7), UnschedulableCount: 1, BackoffExpiry: world.At(11.38)}}
	if got, want := m.arithmetic(p), "Failed at 12:00:10.7, for the 1st time. Backoff: 1 s, until 12:00:11.3 (rounded down to a whole second of the scheduler's clock)."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
