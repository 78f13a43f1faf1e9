package model_test

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// attempts returns how many times that pod is tried.
func attempts(t *testing.T, rec *sources.Recording, pod string) (n int) {
	t.Helper()
	for _, m := range replayed.Moves(t, rec, pod) {
		if strings.Contains(m, ">inflight") {
			n++
		}
	}
	return n
}

// TestPatchOfPreemption: the pod that preempts others takes the nominations to its node away from pods of a lower priority. The
// patches that say so are of no attempt of those.
func TestPatchOfPreemption(t *testing.T) {
	const message = "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement"
	priority := func(p int32) func(*v1.Pod) { return func(pod *v1.Pod) { pod.Spec.Priority = &p } }
	for name, c := range map[string]struct {
		preempts bool
		tried    int
	}{
		"another preempts":               {true, 1},
		"none does, so it was tried now": {false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var r world.Cluster
			r.Add(0, flushing())
			world.Change(&r, 0, sources.Added, world.Node("full", "2"), nil)
			world.Change(&r, 1, sources.Added, world.PendingPod("low", "1500m"), func(p *v1.Pod) { p.Spec.NodeName = "full"; priority(0)(p) })
			mid := world.Change(&r, 2, sources.Added, world.PendingPod("mid", "1500m"), priority(50))
			r.Failed(2.002, mid, message)
			mid = r.Patched(2.01, mid, message, "full")
			if c.preempts {
				high := world.Change(&r, 2.5, sources.Added, world.PendingPod("high", "1500m"), priority(100))
				r.Failed(2.502, high, message)
				r.Patched(2.52, high, message, "full")
			}
			r.Patched(2.53, mid, message, "")
			if got := attempts(t, r.Recording(2.8), "mid"); got != c.tried {
				t.Errorf("it is tried %d times, want %d", got, c.tried)
			}
		})
	}
}

// TestPatchBesideLog: where the scheduler's log tells how each attempt ends, no patch shows another one.
func TestPatchBesideLog(t *testing.T) {
	for name, of := range map[string]struct{ verbosity, tried int }{"of 2": {2, 1}, "of 0": {0, 2}} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			c.Add(0, &sources.Logged{Verbosity: of.verbosity})
			world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
			c.Add(2.003, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Message: world.TooSmall, Log: of.verbosity > 0})
			web = c.Patched(2.01, web, world.TooSmall, "")
			c.Patched(5, web, world.TooSmall, "")
			if got := attempts(t, c.Recording(6), "web"); got != of.tried {
				t.Errorf("it is tried %d times, want %d", got, of.tried)
			}
		})
	}
}

// TestAnswerTakesTime: what the scheduler hears between the API server's answer to a patch and the loop's next attempt finds no pod
// in flight.
func TestAnswerTakesTime(t *testing.T) {
	var c world.Cluster
	c.Add(0, flushing())
	c.Add(0, &sources.Logged{Verbosity: 2})
	small, other := c.Small(), c.AddSmall(1.1)
	fails := func(seconds float64, pod *v1.Pod) {
		c.Add(seconds, &sources.FailedAttempt{Pod: world.Key(pod.Name), UID: pod.UID, Message: world.TooSmall, Log: true})
	}
	stuck := func(seconds float64, name string) *v1.Pod {
		pod := world.Change(&c, seconds, sources.Added, world.PendingPod(name, "4"), nil)
		fails(seconds+0.003, pod)
		return c.Patched(seconds+0.01, pod, "0/1 nodes are available: 1 Insufficient cpu.", "")
	}
	a, b := stuck(2, "a"), stuck(2.1, "b")
	c.Delete(5, small) // their backoff is over
	fails(5.003, a)
	c.Delete(5.0192, other) // heard of at 5.0202
	c.Patched(5.02, a, world.TooSmall, "")
	fails(5.021, b)
	replayed.Compare(t, replayed.Moves(t, c.Recording(5.5), "b")[3:], []string{
		"5 unschedulable>active AssignedPodDelete NodeResourcesFit modelled",
		"5 active>inflight NodeResourcesFit modelled",
		"5 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
	})
}
