package explain

import (
	"testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/world"
)

// TestIfWoken: a pending plugin's event needs no backoff.
func TestIfWoken(t *testing.T) {
	f := &Moment{Now: world.At(11.5), Options: queue.Defaults()}
	p := &board.Pod{PodInfo: queue.PodInfo{
		Tier: queue.Unschedulable, Timestamp: world.At(10.7), UnschedulableCount: 1, BackoffExpiry: world.At(11), PendingPlugins: []string{"DynamicResources"},
	}}
	f.Options.PopFromBackoffQ = true
	want := "Failed 12:00:10.7, 1st time → 1 s → expiry 12:00:11 (cut to the whole second). " +
		"Woken before 12:00:12, it goes to backoffQ first, unless by an event for DynamicResources: then straight to activeQ."
	if got := f.explainWoken(p); got != want {
		t.Errorf("it says %s\nwant    %s", got, want)
	}
	f.Now = world.At(12)
	if w, ok := f.IfWoken(p); !ok || w.Tier != queue.Active {
		t.Errorf("after its backoff it goes to %+v, %v", w, ok)
	}
	p.Tier = queue.Backoff
	if _, ok := f.IfWoken(p); ok {
		t.Error("a pod in backoffQ is said to wait for an event")
	}
}

// TestCutBySchedulersClock: by a clock that is 380 ms ahead of the scheduler's, its seconds begin 380 ms late.
func TestCutBySchedulersClock(t *testing.T) {
	m := &Moment{Now: world.At(11.5), Options: queue.Defaults()}
	p := &board.Pod{PodInfo: queue.PodInfo{Timestamp: world.At(10.7), UnschedulableCount: 1, BackoffExpiry: world.At(11.38)}}
	if got, want := m.arithmetic(p), "Failed 12:00:10.7, 1st time → 1 s → expiry 12:00:11.3 (cut to the whole second of the scheduler's clock)."; got != want {
		t.Errorf("it says %s\nwant    %s", got, want)
	}
}
