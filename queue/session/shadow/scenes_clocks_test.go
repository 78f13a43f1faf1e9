package shadow_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestClocksApart: a backoff is over when the second has passed in which it ends, by the scheduler's clock. Where times are later than by that
// one, its seconds begin later, from when that is found out: of this pod's backoff, which ends at 3.01, and of those that follow.
func TestClocksApart(t *testing.T) {
	apart := func(told float64, ahead time.Duration) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			if told < 2 {
				w.Add(told, &sources.Clocks{Ahead: ahead})
				w.Started(1.5) // that is known of the next scheduler, too
			}
			web := world.Change(w, 2.01, sources.Updated, comes(w, 2, "web", "4", nil), func(p *v1.Pod) {
				world.Reject(p, "running PreFilter plugin \"VolumeBinding\": error getting PVC", "")
				p.Status.Conditions[0].Reason = v1.PodReasonSchedulerError
			})
			w.Add(2.01, &sources.StatusPatched{Pod: world.Key(web.Name), UID: web.UID, Sent: world.At(2.005)})
			if told > 2 {
				w.Add(told, &sources.Clocks{Ahead: ahead})
			}
		}
	}
	const early = `
			3.380 web active BackoffComplete
			3.380 web inflight (turn)
			3.381 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`
	play(t, []scene{
		{"alike", 2.1, 4.5, apart(0.5, 0), `
			4.000 web active BackoffComplete
			4.000 web inflight (turn)
			4.001 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"380 ms ahead", 2.1, 4.5, apart(0.5, 380*time.Millisecond), early},
		{"380 ms ahead, which is found out while it backs off", 2.1, 4.5, apart(2.6, 380*time.Millisecond), early},
		{"620 ms behind", 2.1, 4.5, apart(0.5, -620*time.Millisecond), early},
	})
}
