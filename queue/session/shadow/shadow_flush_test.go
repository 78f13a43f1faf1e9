package shadow_test

import (
	"testing"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// flushing is that a scheduler starts which takes pods out of backoffQ by its flush alone.
func flushing() *sources.SchedulerStarted {
	return &sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1,
		Gates: map[string]bool{"SchedulerPopFromBackoffQ": false}}
}

// TestFlushSeenLate: a flush that shows by the attempt of one pod has taken no pod whose backoff went on for longer than that of the
// one. When the scheduler started, and so when it flushes, is known but roughly.
func TestFlushSeenLate(t *testing.T) {
	var c world.Cluster
	c.Add(0, flushing())
	small := c.Small()
	a, b := c.AddStuck(2.300, "a"), c.AddStuck(2.340, "b")
	c.Delete(2.5, small)
	c.Recorded(3.350, a, 2) // the real flushes run at each second's 320th millisecond
	c.Recorded(4.325, b, 2)
	rec := c.Recording(4.5)
	const woken = "2 unschedulable>backoff AssignedPodDelete NodeResourcesFit modelled"
	for pod, second := range map[string]string{"a": "3", "b": "4"} {
		replayed.Compare(t, replayed.Moves(t, rec, pod)[3:], []string{woken,
			second + " backoff>active BackoffComplete NodeResourcesFit modelled",
			second + " active>inflight NodeResourcesFit modelled",
			second + " inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
		})
	}
}
