package model_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestHeardLate: two pods are gone, the second of which the scheduler hears of late. Three others wait. The first wakes them, and they are
// tried one after the other; what has each tried again can only be the second. So the scheduler got it during the
// first attempt of the last one, wherever it was when the API server answered.
func TestHeardLate(t *testing.T) {
	const again = 30.0065
	told := func(verbosity int, of func(w *world.Cluster)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			w.Add(0, &sources.Logged{Verbosity: verbosity})
			first := w.Small()
			second := w.AddSmall(1)
			for i, name := range []string{"a", "b", "c"} {
				pod := comes(w, 2+0.0001*float64(i), name, "4", nil)
				w.Failed(2.003+0.001*float64(i), pod, world.TooSmall)
			}
			w.Delete(30, first)
			w.Delete(30.002, second)
			for i, name := range []string{"a", "b", "c"} {
				w.Failed(30.0025+0.0015*float64(i), world.PendingPod(name, "4"), world.TooSmall)
			}
			of(w)
		}
	}
	triedAgain := func(w *world.Cluster) {
		for i, name := range []string{"a", "b", "c"} {
			w.Failed(again+0.001*float64(i), world.PendingPod(name, "4"), world.TooSmall)
		}
	}
	play(t, []scene{
		{"they are tried again", 29, 31, told(2, triedAgain), `
			30.001 a active AssignedPodDelete
			30.001 b active AssignedPodDelete
			30.001 c active AssignedPodDelete
			30.001 a inflight (turn)
			30.003 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.38ms (outcome)
			30.003 b inflight (turn)
			30.004 b unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.39ms (outcome)
			30.004 c inflight (turn)
			30.005 a backoff AssignedPodDelete
			30.005 b backoff AssignedPodDelete
			30.006 c backoff ScheduleAttemptFailure NodeResourcesFit in 1.39ms (outcome)
			30.006 a inflight (failure)
			30.006 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1ms (outcome)
			30.006 b inflight (failure)
			30.008 b unschedulable ScheduleAttemptFailure NodeResourcesFit in 1ms (outcome)
			30.008 c inflight (failure)
			30.008 c unschedulable ScheduleAttemptFailure NodeResourcesFit in 1ms (outcome)
		`},
		{"they are not", 29, 31, told(2, func(*world.Cluster) {}), `
			30.001 a active AssignedPodDelete
			30.001 b active AssignedPodDelete
			30.001 c active AssignedPodDelete
			30.001 a inflight (turn)
			30.003 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.38ms (outcome)
			30.003 b inflight (turn)
			30.003 a backoff AssignedPodDelete
			30.004 b backoff ScheduleAttemptFailure NodeResourcesFit in 1.39ms (outcome)
			30.004 c inflight (turn)
			30.006 c unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.45ms (outcome)
			30.006 a unschedulable (not tried)
			30.006 b unschedulable (not tried)
		`},
		{"Events alone tell, and that one of them is not tried again", 29, 31, func(w *world.Cluster) {
			first := w.Small()
			second := w.AddSmall(1)
			a, b, c := w.AddStuck(2, "a"), w.AddStuck(2.02, "b"), w.AddStuck(2.04, "c")
			w.Delete(30, first)
			w.Delete(30.002, second)
			for i, pod := range []*v1.Pod{a, b, c} {
				w.Recorded(30.0025+0.0015*float64(i), pod, 1)
			}
			w.Recorded(again, a, 2)
			w.Recorded(again+0.002, c, 2)
		}, `
			30.001 a active AssignedPodDelete
			30.001 b active AssignedPodDelete
			30.001 c active AssignedPodDelete
			30.001 a inflight (failure)
			30.003 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.003 b inflight (failure)
			30.004 b unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.004 c inflight (failure)
			30.005 a backoff AssignedPodDelete
			30.005 b backoff AssignedPodDelete
			30.006 c backoff ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.006 a inflight (failure)
			30.006 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 920µs (outcome)
			30.006 b unschedulable (not tried)
			30.007 c inflight (failure)
			30.009 c unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
		`},
		{"nothing tells what the recorder wrote, so how exact its Events are is not known", 29, 31, told(0, triedAgain), `
			30.001 a active AssignedPodDelete
			30.001 b active AssignedPodDelete
			30.001 c active AssignedPodDelete
			30.001 a inflight (failure)
			30.003 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.003 b inflight (failure)
			30.003 a backoff AssignedPodDelete
			30.004 b backoff ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.004 c inflight (failure)
			30.006 c unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.006 a inflight (failure)
			30.006 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1ms (outcome)
			30.006 b inflight (failure)
			30.008 b unschedulable ScheduleAttemptFailure NodeResourcesFit in 1ms (outcome)
			30.008 c inflight (behind)
			30.008 c unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
	})
}

// TestNodeHeardLate: a pod is gone, and three others that wait are tried; meanwhile their node becomes large enough. Two of them fail as on
// the small one, so the scheduler had yet to get the update.
func TestNodeHeardLate(t *testing.T) {
	const grows = 30.0005
	told := func(count int) func(w *world.Cluster) { // that two fail, by an Event that is the count-th of each
		return func(w *world.Cluster) {
			first := w.Small()
			a, b, c := w.AddStuck(2, "a"), w.AddStuck(2.02, "b"), w.AddStuck(2.04, "c")
			w.Delete(30, first)
			world.Change(w, grows, sources.Updated, world.Node("node-a", "1"), func(n *v1.Node) { world.SetCPU(n, "20") })
			w.Recorded(30.003, a, count)
			w.Recorded(30.0045, b, count)
			w.Bound(30.01, c, "node-a")
			w.Bound(30.012, a, "node-a")
			w.Bound(30.014, b, "node-a")
		}
	}
	play(t, []scene{
		{"two fail", 29, 31, told(1), `
			30.001 a active AssignedPodDelete
			30.001 b active AssignedPodDelete
			30.001 c active AssignedPodDelete
			30.002 a inflight (failure)
			30.003 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.003 b inflight (failure)
			30.004 a backoff NodeUpdateNodeAllocatable
			30.005 b backoff ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.009 c inflight (turn)
			30.010 c scheduled node-a (outcome)
			30.011 a inflight (turn)
			30.011 c deleted
			30.012 a scheduled node-a (outcome)
			30.013 b inflight (turn)
			30.013 a deleted
			30.014 b scheduled node-a (outcome)
			30.015 b deleted
		`},
		{"they fail again, which the Events of before tell in the words of before", 29, 31, told(2), `
			30.001 a active AssignedPodDelete
			30.001 b active AssignedPodDelete
			30.001 c active AssignedPodDelete
			30.002 a inflight (failure)
			30.003 a unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
			30.003 b inflight (failure)
			30.005 b unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
			30.009 c inflight (turn)
			30.010 c scheduled node-a (outcome)
			30.011 c deleted
			30.012 a inflight (behind)
			30.012 a scheduled node-a (outcome)
			30.013 a deleted
			30.014 b inflight (behind)
			30.014 b scheduled node-a (outcome)
			30.015 b deleted
		`},
	})
}

// TestSeenBeforeItsTurn: a pod is gone, which wakes those that wait. The Event of the first attempt comes before
// the model's loop is free for it. The loop goes on behind it, however soon the next Event of that pod follows.
func TestSeenBeforeItsTurn(t *testing.T) {
	free := func(p *v1.Pod) { world.Reject(p, world.TooSmall, "") } // the recorder may have written of it: its attempts need not show
	play(t, []scene{{"by an Event", 29, 31, func(w *world.Cluster) {
		first := w.Small()
		a := w.AddStuck(2, "a")
		comes(w, 2.1, "b", "4", free)
		w.Delete(30, first)
		w.Recorded(30.00105, a, 1)
		w.Recorded(30.006, a, 2)
	}, `
			30.001 a active AssignedPodDelete
			30.001 b active AssignedPodDelete
			30.001 a inflight (behind)
			30.001 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s (outcome)
			30.002 b inflight (turn)
			30.002 b unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			30.006 a inflight (behind)
			30.006 a unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
	`}})
}

// TestHeardBehindOthers: a pod is gone, which wakes web. Its backoff is over, so the loop would take it before first and second, which back
// off. If those are tried before web, the scheduler got the deletion after the last of their attempts.
func TestHeardBehindOthers(t *testing.T) {
	const (
		unmatched = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
		neither   = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector."
	)
	fails := func(w *world.Cluster, seconds float64, pod *v1.Pod, message sources.SafeText) {
		w.Add(seconds, &sources.FailedAttempt{Pod: world.Key(pod.Name), UID: pod.UID, Message: message, Recorded: sources.NewRecorded(pod.ResourceVersion, 1)})
	}
	wakes := func(then func(w *world.Cluster, first, second, web, other *v1.Pod)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			small, other := w.Small(), w.AddSmall(1)
			web := w.AddStuck(2, "web")
			picky := func(seconds float64, name string) *v1.Pod {
				pod := comes(w, seconds, name, "1", func(p *v1.Pod) {
					p.Spec.NodeSelector, p.CreationTimestamp.Time = map[string]string{"disk": "ssd"}, world.At(seconds)
				})
				fails(w, seconds+0.003, pod, unmatched)
				return w.Patched(seconds+0.01, pod, unmatched, "")
			}
			first, second := picky(29.5, "first"), picky(29.52, "second")
			world.Change(w, 29.9, sources.Added, world.Node("node-b", "100m"), func(n *v1.Node) { n.Labels["disk"] = "ssd" }) // which wakes both
			w.Delete(30, small)
			then(w, first, second, web, other)
		}
	}
	play(t, []scene{
		{"both", 30, 30.2, wakes(func(w *world.Cluster, first, second, web, _ *v1.Pod) {
			fails(w, 30.01, first, neither)
			fails(w, 30.015, second, neither)
			fails(w, 30.02, web, neither)
		}), `
			30.009 first inflight (failure)
			30.010 first unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit in 1.3ms (outcome)
			30.014 second inflight (failure)
			30.015 web active AssignedPodDelete
			30.015 first backoff AssignedPodDelete
			30.015 second backoff ScheduleAttemptFailure NodeAffinity,NodeResourcesFit in 1.3ms (outcome)
			30.019 web inflight (failure)
			30.020 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.100 first inflight (turn)
			30.101 first unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit in 1.11ms
			30.101 second inflight (turn)
			30.102 second unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit in 1.11ms
		`},
		{"one, and something else could have woken web since, but this does by the hints", 30, 30.2, wakes(func(w *world.Cluster, first, _, web, other *v1.Pod) {
			fails(w, 30.01, first, neither)
			w.Delete(30.015, other)
			fails(w, 30.02, web, neither)
		}), `
			30.009 first inflight (failure)
			30.010 web active AssignedPodDelete
			30.010 first backoff ScheduleAttemptFailure NodeAffinity,NodeResourcesFit in 1.3ms (outcome)
			30.019 web inflight (failure)
			30.020 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.100 second inflight (turn)
			30.101 second unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit in 670µs
			30.101 first inflight (turn)
			30.101 first unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit in 670µs
		`},
		{"none", 30, 30.2, wakes(func(w *world.Cluster, first, second, web, _ *v1.Pod) {
			fails(w, 30.01, web, neither)
			fails(w, 30.015, first, neither)
			fails(w, 30.02, second, neither)
		}), `
			30.001 web active AssignedPodDelete
			30.009 web inflight (failure)
			30.010 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			30.014 first inflight (failure)
			30.015 first unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit in 1.3ms (outcome)
			30.019 second inflight (failure)
			30.020 second unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit in 1.3ms (outcome)
		`},
	})
}
