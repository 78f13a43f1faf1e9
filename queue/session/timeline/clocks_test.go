package timeline

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestClockOffset: once the offset of the source's clock from the scheduler's is known, backoffs end at whole seconds of the
// scheduler's clock, including those in progress. The offset stays the same for the next scheduler of another release.
func TestClockOffset(t *testing.T) {
	var w world.Cluster
	w.Started(1)
	fails := func(seconds float64, pod string) {
		for _, to := range []sources.Tier{sources.TierActive, sources.TierInFlight} {
			w.Add(seconds, &sources.Move{Pod: world.Key(pod), To: to})
		}
		w.Add(seconds, &sources.Move{Pod: world.Key(pod), To: sources.TierBackoff, Event: queue.ScheduleAttemptFailure, Plugins: []string{"A"}})
	}
	fails(2.1, "a")
	w.Add(2.5, &sources.Clocks{Ahead: 380 * time.Millisecond})
	fails(2.6, "b")
	w.Add(10, &sources.SchedulerRunning{Release: "v1.36.1"})
	fails(10.1, "c")
	rec := w.Recording(20)
	cfg, err := Options{}.SchedulerConfig(rec)
	if err != nil {
		t.Fatal(err)
	}
	line := New(rec, cfg, nil)
	for _, c := range []struct {
		at     float64
		pod    string
		expiry float64 // start of the second in which its backoff ends
		flush  float64 // time of the next flush
	}{{2.2, "a", 3, 3}, {2.5, "a", 2.38, 3.38}, {2.7, "b", 3.38, 3.38}, {10.2, "c", 10.38, 10.38}} {
		line.GoTo(world.At(c.at))
		pod := line.Engine.Board.Get(world.Key(c.pod))
		if got := pod.BackoffExpiry; !got.Equal(world.At(c.expiry)) {
			t.Errorf("at %v s the backoff of %s ends at %s", c.at, c.pod, got)
		}
		if next, _, _ := line.Engine.Ticks.Next(world.At(c.at)); !next.Equal(world.At(c.flush)) {
			t.Errorf("at %v s the next flush is at %s", c.at, next)
		}
	}
}
