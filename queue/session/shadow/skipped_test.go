package shadow_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSkippedAndGone: a pod is told to be gone, of which the scheduler has heard that it is being deleted. Its turn comes, and it is skipped
// (schedule_one.go, skipPodSchedule): it is out of flight at once, since no attempt of it is there that could end later.
func TestSkippedAndGone(t *testing.T) {
	free := func(p *v1.Pod) { world.Reject(p, world.TooSmall, "") } // the recorder may have written of it: its attempts need not show
	play(t, []scene{{"between what is told and what is heard", 29, 40, func(w *world.Cluster) {
		small := w.Small()
		comes(w, 2, "first", "4", free)
		web := comes(w, 2.1, "web", "4", free)
		w.Delete(30, small)
		going := world.Change(w, 30.0002, sources.Updated, web, func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: world.At(30)} })
		world.Change(w, 30.001, sources.Deleted, going, nil)
	}, `
		30.001 first active AssignedPodDelete
		30.001 web active AssignedPodDelete
		30.001 first inflight (turn)
		30.002 first unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		30.002 web inflight (turn)
		30.002 web deleted (turn)
	`}})
}
