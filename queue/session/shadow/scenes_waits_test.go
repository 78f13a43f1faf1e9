package shadow_test

import (
	"testing"

	"github.com/schedq/schedq/queue/session/world"
)

// TestWaitsForPatchOfTold: an attempt is told to have failed before the model has had it, and its patch, which says the same, is sent 300 ms later. The
// loop waits for that. So another pod, whose attempt would not show, is tried only then.
func TestWaitsForPatchOfTold(t *testing.T) {
	told := func(patched string) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			small := w.AddSmall(1)
			comes(w, 1.6, "db", "4", free)
			web := comes(w, 2, "web", "4", nil)
			w.Failed(2.0005, web, world.TooSmall)
			w.Delete(2.05, small)
			w.Patched(2.305, web, patched, "")
		}
	}
	play(t, []scene{
		{"the patch says something else: it is that of the next attempt", 2, 2.6, told("0/2 nodes are available: 2 Insufficient cpu."), `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (behind)
			2.001 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			2.051 other backoff AssignedPodDelete
			2.051 db backoff AssignedPodDelete
			2.051 web backoff AssignedPodDelete
			2.051 other unschedulable (not tried)
			2.051 db inflight (turn)
			2.052 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.301 web inflight (failure)
			2.301 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}
