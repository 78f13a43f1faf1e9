package shadow_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// noRoom is what a scheduler says of a pod for which no node has room.
const noRoom = "0/1 nodes are available: 1 Insufficient cpu."

// pinned has a pod fit on that node alone.
func pinned(node string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{v1.LabelHostname: node} }
}

// going has a pod that is being deleted.
func going(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: world.At(32)} }

// scene is a recording of a scheduler, and all moves of its model after from, in seconds.
type scene struct {
	name        string
	from, until float64
	of          func(w *world.Cluster)
	want        string
}

// play compares what the model makes of each scene, playWith that of a scheduler whose configuration edit changes.
func play(t *testing.T, scenes []scene) { playWith(t, func(*schedulerconfig.Config) {}, scenes) }

func playWith(t *testing.T, edit func(*schedulerconfig.Config), scenes []scene) {
	t.Helper()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			var w world.Cluster
			s.of(&w)
			cfg := world.Config(t)
			edit(cfg)
			says(t, traced(t, w.Recording(s.until), cfg, s.from), s.want)
		})
	}
}

// byFlushesAlone has the loop take no pods from backoffQ.
func byFlushesAlone(cfg *schedulerconfig.Config) { cfg.Queue.PopFromBackoffQ = false }

// nodes adds nodes with that much CPU each, to a cluster whose scheduler's requests are recorded.
func nodes(w *world.Cluster, cpu string, names ...string) {
	for _, name := range names {
		world.Change(w, 1, sources.Added, world.Node(name, cpu), nil)
	}
	w.AddStuck(1.5, "other")
}

// comes has a pod come that wants so much.
func comes(w *world.Cluster, seconds float64, name, cpu string, edit func(*v1.Pod)) *v1.Pod {
	return world.Change(w, seconds, sources.Added, world.PendingPod(name, cpu), edit)
}

// boundBy binds a pod to node-a by a request that was sent at that time.
func boundBy(w *world.Cluster, sent, answered float64, pod *v1.Pod) {
	w.Bound(answered, pod, "node-a")
	w.Events[len(w.Events)-1].Fact.(*sources.ObjectChange).Sent = world.At(sent)
}

// TestSeenBound: what the model makes of bindings that are seen, sooner, later and elsewhere than it would make them.
func TestSeenBound(t *testing.T) {
	play(t, []scene{
		{"elsewhere, so its room is free at once", 2, 3, func(w *world.Cluster) {
			nodes(w, "2", "node-a", "node-b")
			web := comes(w, 2, "web", "2", nil)
			db := comes(w, 2.0092, "db", "2", pinned("node-a"))
			w.Bound(2.01, web, "node-b")
			w.Bound(2.0115, db, "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.009 web inflight (turn)
			2.010 web scheduled node-b (outcome)
			2.010 db active UnscheduledPodAdd
			2.010 db inflight (turn)
			2.011 web deleted
			2.011 db scheduled node-a (outcome)
			2.012 db deleted
		`},
		{"where it was placed, so its room is taken all the time", 2, 3, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			web := comes(w, 2, "web", "2", nil)
			db := comes(w, 2.0092, "db", "2", nil)
			w.Bound(2.01, web, "node-a")
			w.Failed(2.0112, db, noRoom)
		}, `
			2.001 web active UnscheduledPodAdd
			2.009 web inflight (turn)
			2.010 web scheduled node-a (outcome)
			2.010 db active UnscheduledPodAdd
			2.010 db inflight (failure)
			2.011 web deleted
			2.011 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
		`},
		{"before the watch would have delivered the pod", 2, 3, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			w.Bound(2.0005, comes(w, 2, "web", "1", nil), "node-a")
			w.Patched(2.2006, comes(w, 2.2, "db", "1", nil), noRoom, "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (behind)
			2.001 web scheduled node-a (outcome)
			2.002 web deleted
			2.201 db active UnscheduledPodAdd
			2.201 db inflight (behind)
			2.201 db unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"sooner than its turn, while attempts end", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "4"), nil)
			var pods []*v1.Pod
			for i := range 5 {
				pods = append(pods, comes(w, 2+0.0001*float64(i), fmt.Sprint("web-", i), "100m", nil))
			}
			w.Bound(2.0029, pods[4], "node-a")
		}, `
			2.001 web-0 active UnscheduledPodAdd
			2.001 web-0 inflight (turn)
			2.001 web-1 active UnscheduledPodAdd
			2.001 web-2 active UnscheduledPodAdd
			2.001 web-3 active UnscheduledPodAdd
			2.001 web-4 active UnscheduledPodAdd
			2.002 web-1 inflight (turn)
			2.003 web-2 inflight (turn)
			2.003 web-4 inflight (behind)
			2.003 web-4 scheduled node-a (outcome)
			2.004 web-3 inflight (turn)
			2.004 web-4 deleted
		`},
		{"sooner than its turn, which the others have after it", 2, 4, func(w *world.Cluster) {
			nodes(w, "4", "node-a")
			var pods []*v1.Pod
			for i := range 5 {
				pods = append(pods, comes(w, 2+0.0001*float64(i), fmt.Sprint("web-", i), "100m", nil))
			}
			w.Bound(2.01, pods[3], "node-a")
			w.Bound(2.011, pods[4], "node-a")
			w.Bound(2.012, pods[0], "node-a")
		}, `
			2.001 web-0 active UnscheduledPodAdd
			2.001 web-1 active UnscheduledPodAdd
			2.001 web-2 active UnscheduledPodAdd
			2.001 web-3 active UnscheduledPodAdd
			2.001 web-4 active UnscheduledPodAdd
			2.010 web-3 inflight (behind)
			2.010 web-3 scheduled node-a (outcome)
			2.011 web-0 inflight (turn)
			2.011 web-3 deleted
			2.011 web-4 inflight (behind)
			2.011 web-4 scheduled node-a (outcome)
			2.012 web-4 deleted
			2.012 web-0 scheduled node-a (outcome)
			2.013 web-0 deleted
			3.900 web-1 inflight (turn)
			3.901 web-2 inflight (turn)
			3.906 web-1 unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
			3.906 web-2 unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"although it was rejected, which the loop had time for", 2, 3, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := comes(w, 2, "web", "2", nil)
			web = w.Patched(2.01, web, noRoom, "")
			w.Bound(2.5, web, "node-a")
			w.Patched(2.61, comes(w, 2.6, "db", "1", nil), noRoom, "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.500 web inflight (behind)
			2.500 web scheduled node-a (outcome)
			2.501 web deleted
			2.601 db active UnscheduledPodAdd
			2.606 db inflight (failure)
			2.606 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"while the loop waits for the patch of another", 2, 3, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			w.Patched(2.3, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Bound(2.25, comes(w, 2.01, "db", "1", nil), "node-a")
			w.Bound(2.4, comes(w, 2.02, "late", "1", nil), "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.011 db active UnscheduledPodAdd
			2.021 late active UnscheduledPodAdd
			2.250 db inflight (behind)
			2.250 db scheduled node-a (outcome)
			2.251 db deleted
			2.296 web inflight (failure)
			2.296 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.399 late inflight (turn)
			2.400 late scheduled node-a (outcome)
			2.401 late deleted
		`},
		{"and never seen: it is taken back, with the plugins that rejected it before", 2, 8, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			old := runsOn(w, "old", "2", 0, 0)
			w.Patched(2.01, comes(w, 2, "web", "2", nil), noRoom, "")
			world.Change(w, 5, sources.Deleted, old, nil)
			w.Failed(5.003, world.PendingPod("nobody", "1"), noRoom)
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			5.001 other active AssignedPodDelete
			5.001 web active AssignedPodDelete
			5.001 other unschedulable (not tried)
			5.001 web inflight (turn)
			5.007 web unschedulable ScheduleAttemptFailure NodeResourcesFit (not bound)
		`},
		{"and deleted before that shows: it leaves, and its room is free", 2, 5, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := comes(w, 2, "web", "1", nil)
			world.Change(w, 2.04, sources.Deleted, web, nil)
			w.Bound(2.06, comes(w, 2.05, "db", "1", nil), "node-a")
			comes(w, 3, "web", "4", func(p *v1.Pod) { p.UID = "second" })
		}, `
			2.001 web active UnscheduledPodAdd
			2.041 web deleted
			2.051 db active UnscheduledPodAdd
			2.059 db inflight (turn)
			2.060 db scheduled node-a (outcome)
			2.061 db deleted
			3.001 web active UnscheduledPodAdd
			4.900 web inflight (turn)
			4.901 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"by a request whose time is known: the attempt ends just before that", 2, 3, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			boundBy(w, 2.05, 2.1, comes(w, 2, "web", "1", nil))
		}, `
			2.001 web active UnscheduledPodAdd
			2.049 web inflight (turn)
			2.100 web scheduled node-a (outcome)
			2.101 web deleted
		`},
	})
}

// TestSeenPreempting: what the model makes of preemptions: the victims are those that are seen to go.
func TestSeenPreempting(t *testing.T) {
	play(t, []scene{
		{"no victim goes", 2, 9, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			runsOn(w, "a", "1", 0, 30)
			b := runsOn(w, "b", "1", 1, 30)
			w.Patched(2.006, comes(w, 2, "high", "2", priority(100)), noRoom, "node-a")
			world.Change(w, 6, sources.Deleted, b, nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			6.001 high active AssignedPodDelete
			6.001 high inflight (turn)
			6.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		`},
		{"requests are not told, and a small one goes", 2, 9, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			runsOn(w, "a", "1", 0, 30)
			b := runsOn(w, "b", "1", 1, 30)
			w.Failed(2.002, comes(w, 2, "high", "2", priority(100)), noRoom)
			world.Change(w, 2.5, sources.Deleted, b, nil)
			comes(w, 3.5, "c", "1", nil)
			comes(w, 7, "d", "1", nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.001 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 960µs (outcome)
			2.501 high gated AssignedPodDelete
			3.501 c active UnscheduledPodAdd
			3.501 c inflight (turn)
			3.502 c unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			7.001 d active UnscheduledPodAdd
			7.001 d inflight (turn)
			7.002 d unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"on the other of two nodes, whose room is kept", 2, 9, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(w, 1, sources.Added, world.Node("node-b", "1"), nil)
			runsOn(w, "a", "1", 0, 30)
			b := comes(w, 1, "b", "1", func(p *v1.Pod) { p.Spec.NodeName = "node-b"; priority(1)(p) })
			high := w.Patched(2.006, comes(w, 2, "high", "1", priority(100)), noRoom, "node-b")
			b = world.Change(w, 2.011, sources.Updated, b, going)
			world.Change(w, 3, sources.Deleted, b, nil)
			w.Patched(3.02, comes(w, 3.01, "mid", "1", priority(50)), noRoom, "")
			w.Bound(3.1, high, "node-b")
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 670µs
			3.001 high backoff AssignedPodDelete
			3.001 high inflight (turn)
			3.011 mid active UnscheduledPodAdd
			3.016 mid inflight (failure)
			3.016 mid unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 670µs
			3.100 high scheduled node-b (outcome)
			3.101 high deleted
		`},
		{"the preemptor goes", 2, 9, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			a := runsOn(w, "a", "1", 0, 30)
			high := w.Patched(2.006, comes(w, 2, "high", "1", priority(100)), noRoom, "node-a")
			a = world.Change(w, 2.011, sources.Updated, a, going)
			world.Change(w, 2.5, sources.Deleted, high, nil)
			world.Change(w, 3, sources.Deleted, a, nil)
			w.Bound(3.5, comes(w, 3.4, "next", "1", nil), "node-a")
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.501 high deleted
			3.401 next active UnscheduledPodAdd
			3.499 next inflight (turn)
			3.500 next scheduled node-a (outcome)
			3.501 next deleted
		`},
	})
}

// TestPreemptsInTheLoop: up to v1.32 the loop waits until the victims are deleted, and changes delivered meanwhile come during the attempt.
func TestPreemptsInTheLoop(t *testing.T) {
	victims := func(w *world.Cluster) (low *v1.Pod) {
		world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
		low = runsOn(w, "low", "1900m", 0, 0)
		comes(w, 2, "high", "1900m", func(p *v1.Pod) { priority(100)(p); free(p) })
		comes(w, 2.01, "next", "200", free)
		return low
	}
	playWith(t, func(cfg *schedulerconfig.Config) { *cfg = *cfg.ForVersion("v1.32.0") }, []scene{
		{"until the Event of its failure", 2, 2.5, func(w *world.Cluster) {
			world.Change(w, 2.08, sources.Deleted, victims(w), nil)
			w.Failed(2.09, world.PendingPod("high", "1900m"), noRoom)
		}, `
			2.001 high active UnschedulablePodAdd
			2.001 high inflight (turn)
			2.011 next active UnschedulablePodAdd
			2.090 high backoff ScheduleAttemptFailure NodeResourcesFit node-a in 88.96ms (outcome)
			2.295 next inflight (turn)
			2.296 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"until its victim is seen to be deleted", 2, 2.5, func(w *world.Cluster) { world.Change(w, 2.08, sources.Deleted, victims(w), nil) }, `
			2.001 high active UnschedulablePodAdd
			2.001 high inflight (turn)
			2.011 next active UnschedulablePodAdd
			2.080 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 79ms
			2.081 high backoff AssignedPodDelete
			2.285 next inflight (turn)
			2.286 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestSeenGoing: what the model makes of pods that go: what waited for them goes on.
func TestSeenGoing(t *testing.T) {
	victim := func(w *world.Cluster) (small, low *v1.Pod) {
		world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
		small, low = runsOn(w, "small", "100m", 0, 0), runsOn(w, "low", "1900m", 0, 30)
		w.Patched(2.006, comes(w, 2, "high", "1900m", priority(100)), noRoom, "node-a")
		return small, low
	}
	play(t, []scene{
		{"a victim that is going: its preemptor waits for no more", 2, 3, func(w *world.Cluster) {
			small, low := victim(w)
			world.Change(w, 2.011, sources.Updated, low, going)
			world.Change(w, 2.03, sources.Deleted, small, nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.031 high backoff AssignedPodDelete
			2.031 high inflight (turn)
			2.032 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		`},
		{"a victim that is gone at once", 2, 2.5, func(w *world.Cluster) {
			_, low := victim(w)
			world.Change(w, 2.011, sources.Deleted, low, nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.012 high backoff AssignedPodDelete
			2.012 high inflight (turn)
			2.018 high unschedulable ScheduleAttemptFailure NodeResourcesFit (not bound)
		`},
		{"a victim that changes, and is going later", 2, 3, func(w *world.Cluster) {
			small, low := victim(w)
			low = world.Change(w, 2.011, sources.Updated, low, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			world.Change(w, 2.03, sources.Deleted, small, nil)
			world.Change(w, 2.5, sources.Updated, low, going)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.031 high gated AssignedPodDelete
		`},
		{"a victim of a pod that is nominated elsewhere than the model has it", 2, 5, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(w, 1, sources.Added, world.Node("node-b", "1100m"), nil)
			runsOn(w, "a", "1", 0, 30)
			b := comes(w, 1, "b", "1", func(p *v1.Pod) { p.Spec.NodeName = "node-b"; priority(1)(p) })
			small, other := comes(w, 1, "small", "100m", priority(1)), comes(w, 1, "other", "10m", priority(1))
			small, other = w.Bound(1.01, small, "node-b"), w.Bound(1.02, other, "node-b")
			high := w.Patched(2.006, comes(w, 2, "high", "1", priority(100)), noRoom, "node-a")
			w.Patched(2.95, high, noRoom+" again", "node-b")
			world.Change(w, 4, sources.Deleted, other, nil)
			world.Change(w, 4.9, sources.Updated, b, going)
			world.Change(w, 4.91, sources.Deleted, small, nil)
		}, `
			2.001 high active UnscheduledPodAdd
			2.002 high inflight (failure)
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 670µs
			2.951 high gated AssignedPodDelete
			4.001 high gated AssignedPodDelete
			4.911 high active AssignedPodDelete
			4.911 high inflight (turn)
			4.912 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 670µs
		`},
		{"a pod for whose patch the loop waits: it goes on", 2, 2.1, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := comes(w, 2, "web", "2", nil)
			w.Failed(2.002, web, noRoom)
			comes(w, 2.003, "db", "2", nil)
			world.Change(w, 2.05, sources.Deleted, web, nil)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (failure)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
			2.004 db active UnscheduledPodAdd
			2.051 web deleted
			2.051 db inflight (turn)
			2.052 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"a pod for whose patch the loop waits is bound: it goes on", 2, 2.1, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			web := comes(w, 2, "web", "4", nil)
			w.Failed(2.002, web, noRoom)
			comes(w, 2.003, "db", "2", nil)
			w.Bound(2.05, web, "node-a")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (failure)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 960µs (outcome)
			2.004 db active UnscheduledPodAdd
			2.050 web inflight (behind)
			2.050 web scheduled node-a (outcome)
			2.050 db inflight (turn)
			2.051 web deleted
		`},
		{"pods that go between two schedulers, of which there are more", 2, 5, func(w *world.Cluster) {
			w.Started(0.5)
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			world.Change(w, 2.9995, sources.Deleted, web, nil)
			w.Started(3)
			w.Started(4)
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 web deleted
			3.000 other active UnscheduledPodAdd
			4.000 other active UnscheduledPodAdd
			4.900 other inflight (turn)
			4.901 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestSeenTooEarly: an Event comes before the changes that led to it, which the scheduler had by then. None comes twice.
func TestSeenTooEarly(t *testing.T) {
	play(t, []scene{{"of two nodes", 3, 4, func(w *world.Cluster) {
		nodes(w, "1", "node-a")
		web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
		w.Failed(3, web, noRoom)
		world.Change(w, 3.004, sources.Added, world.Node("node-b", "1"), nil)
		world.Change(w, 3.005, sources.Added, world.Node("node-c", "4"), func(n *v1.Node) { n.Spec.Unschedulable = true })
		world.Change(w, 3.006, sources.Added, world.Node("node-d", "4"), nil)
	}, `
			3.000 other active NodeAdd
			3.000 web backoff NodeAdd
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit,NodeUnschedulable in 0s
			3.000 other unschedulable (not tried)
			3.007 web backoff NodeAdd
			3.007 other active NodeAdd
			3.007 other unschedulable (not tried)
			3.007 web inflight (turn)
			3.013 web unschedulable ScheduleAttemptFailure NodeResourcesFit,NodeUnschedulable (not bound)
		`}})
}

// TestSeenToWork: if no scheduler seemed to be running, any sign of one lets the loop go on.
func TestSeenToWork(t *testing.T) {
	silent := func(then func(w *world.Cluster, bound *v1.Pod)) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			bound := comes(w, 1.8, "bound", "100m", func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
			comes(w, 2, "web", "4", nil) // whose attempt would show
			w.Add(19, &sources.Mark{})
			comes(w, 19.5, "free", "4", free)
			comes(w, 19.6, "theirs", "1", func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" })
			comes(w, 19.7, "small", "1", free)
			then(w, bound)
		}
	}
	play(t, []scene{
		{"an Event of its", 19, 20.2, silent(func(w *world.Cluster, _ *v1.Pod) { w.Failed(20, world.PendingPod("web", "4"), noRoom) }), `
			19.501 free active UnscheduledPodAdd
			19.701 small active UnscheduledPodAdd
			20.000 silent
			20.000 web inflight (behind)
			20.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			20.000 free inflight (turn)
			20.001 free unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			20.001 small inflight (turn)
			20.006 small unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"a patch of its", 19, 20.2, silent(func(w *world.Cluster, _ *v1.Pod) { w.Patched(20, world.PendingPod("web", "4"), noRoom, "") }), `
			19.501 free active UnscheduledPodAdd
			19.701 small active UnscheduledPodAdd
			20.000 silent
			20.000 web inflight (behind)
			20.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			20.000 free inflight (turn)
			20.001 free unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			20.001 small inflight (turn)
			20.007 small unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
		{"nothing of its", 19, 20.2, silent(func(w *world.Cluster, bound *v1.Pod) {
			w.Failed(20, world.PendingPod("nobody", "4"), noRoom)
			w.Add(20.01, &sources.FailedAttempt{Pod: world.Key("web"), UID: "another", Message: noRoom})
			world.Change(w, 20.02, sources.Updated, bound, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			world.Change(w, 20.03, sources.Updated, world.PendingPod("web", "4"), func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			w.Bound(20.04, world.Change(w, 20.04, sources.Updated, world.PendingPod("theirs", "1"), func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" }), "node-a")
		}), `
			19.501 free active UnscheduledPodAdd
			19.701 small active UnscheduledPodAdd
		`},
		{"a lease that is held, before the scheduler is there", 2, 4, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			w.Add(1.9, &sources.Silent{})
			comes(w, 2, "web", "1", nil)
			w.Started(3)
		}, `
			3.000 other active UnscheduledPodAdd
			3.000 web active UnscheduledPodAdd
			3.900 other inflight (turn)
			3.901 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.901 web inflight (turn)
			3.906 web unschedulable ScheduleAttemptFailure (unknown plugin) (not bound)
		`},
	})
}

// TestSeenNew: of a pod that has just been created nothing was written before, so that its next attempts have to show.
func TestSeenNew(t *testing.T) {
	created := func(seconds float64) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			small := w.AddSmall(1.6)
			web := comes(w, 3, "web", "4", func(p *v1.Pod) { p.CreationTimestamp.Time = world.At(seconds); world.Reject(p, noRoom, "") })
			w.Failed(3.003, web, noRoom)
			w.Delete(4, small)
		}
	}
	play(t, []scene{
		{"just now", 3, 4.2, created(2), `
			3.001 web active UnscheduledPodAdd
			3.002 web inflight (failure)
			3.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			4.001 other active AssignedPodDelete
			4.001 web backoff AssignedPodDelete
			4.100 other inflight (turn)
			4.101 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			4.101 web inflight (turn)
			4.101 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestSeenAsync: a loop that does not wait for the answers to its patches.
func TestSeenAsync(t *testing.T) {
	async := func(cfg *schedulerconfig.Config) { cfg.AsyncAPICalls = true }
	boundAfter := func(n int) func(w *world.Cluster) { // n requests: those beyond 100 wait for up to a second
		return func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			requests(w, 1.9, n)
			web := comes(w, 2, "web", "4", free)
			requests(w, 2.896, 1)
			w.Bound(2.9, web, "node-a")
		}
	}
	inTurn := func(w *world.Cluster) *v1.Pod { // web's turn is first, and db fails
		nodes(w, "2", "node-a")
		web := comes(w, 2, "web", "4", func(p *v1.Pod) { world.Reject(p, "of old", "") })
		w.Failed(2.01, comes(w, 2, "db", "4", free), noRoom)
		return web
	}
	playWith(t, async, []scene{
		{"a patch comes late: it is that of another attempt", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Patched(3, web, noRoom+" again", "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"another fails just behind, and the patch comes late: its call has waited", 2, 2.5, func(w *world.Cluster) {
			w.Patched(2.3, inTurn(w), noRoom, "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 db active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.002 db inflight (turn)
			2.010 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 8.26ms (outcome)
		`},
		{"another fails just behind, and no patch comes: the loop took that one", 2, 2.5, func(w *world.Cluster) { inTurn(w) }, `
			2.001 web active UnscheduledPodAdd
			2.001 db active UnscheduledPodAdd
			2.001 db inflight (in place)
			2.010 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 8.92ms (outcome)
			2.010 web inflight (turn)
			2.011 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"an attempt is seen that the model has not made, and its patch takes long", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Failed(3, web, noRoom+" again")
			comes(w, 3.01, "db", "4", free)
			world.Change(w, 3.3, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, noRoom+" again", "") })
			w.Add(3.3, &sources.StatusPatched{Pod: world.Key("web"), UID: "web", Sent: world.At(3.003)})
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 db active UnscheduledPodAdd
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
			3.000 db inflight (turn)
			3.001 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"its request had not waited: it was placed just before", 2, 4, boundAfter(0), `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.900 web inflight (behind)
			2.900 web scheduled node-a (outcome)
			2.901 web deleted
		`},
	})
	// The call that patches a pod waits for others, and carries what the pod's last attempt before it was made failed with
	// (backend/api_dispatcher, v1.34, Run and call_queue.go, merge).
	waited := func(message string) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := comes(w, 2, "web", "4", nil)
			w.Failed(2.003, web, noRoom)
			world.Change(w, 2.5, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, message, "") })
			w.Add(2.5, &sources.StatusPatched{Pod: world.Key("web"), UID: "web", Sent: world.At(2.495)})
		}
	}
	const tried = `
			2.001 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)`
	playWith(t, async, []scene{
		{"a patch comes late, with what the last attempt failed with: its call has waited", 2, 4, waited(noRoom), tried},
		{"a patch comes late, with something else: another attempt failed", 2, 4, waited(noRoom + " again"), tried + `
			2.500 web inflight (behind)
			2.500 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
	})
	play(t, []scene{
		{"a loop that waits: an attempt is seen that the model has not made, and its patch takes long", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Failed(3, web, noRoom+" again")
			comes(w, 3.01, "db", "4", free)
			world.Change(w, 3.3, sources.Updated, web, func(p *v1.Pod) { world.Reject(p, noRoom+" again", "") })
			w.Add(3.3, &sources.StatusPatched{Pod: world.Key("web"), UID: "web", Sent: world.At(3.003)})
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 db active UnscheduledPodAdd
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
			3.300 db inflight (turn)
			3.301 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
		{"an attempt that changes nothing is seen, and a patch of the next follows", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			web := w.Patched(2.01, comes(w, 2, "web", "4", nil), noRoom, "")
			w.Failed(3, web, noRoom)
			w.Patched(3.056, web, noRoom+" again", "")
		}, `
			2.001 web active UnscheduledPodAdd
			2.006 web inflight (failure)
			2.006 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.000 web inflight (behind)
			3.000 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
			3.056 web inflight (behind)
			3.056 web unschedulable ScheduleAttemptFailure NodeResourcesFit (outcome)
		`},
		{"another attempt is seen to end: the patch of the one before is waited for no more", 2, 2.1, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			a := comes(w, 2, "a", "4", func(p *v1.Pod) { world.Reject(p, "of old", "") })
			b := comes(w, 2.0001, "b", "4", free)
			comes(w, 2.0002, "c", "4", free)
			w.Failed(2.0035, b, noRoom)
			world.Change(w, 2.013, sources.Updated, a, func(p *v1.Pod) { world.Reject(p, noRoom, "") })
			w.Add(2.013, &sources.StatusPatched{Pod: world.Key("a"), UID: "a", Sent: world.At(2.01)})
		}, `
			2.001 a active UnscheduledPodAdd
			2.001 a inflight (turn)
			2.001 b active UnscheduledPodAdd
			2.001 c active UnscheduledPodAdd
			2.002 a unschedulable ScheduleAttemptFailure NodeResourcesFit in 740µs
			2.003 b inflight (behind)
			2.003 b unschedulable ScheduleAttemptFailure NodeResourcesFit in 0s
			2.003 c inflight (turn)
			2.004 c unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// refused has a request of the scheduler's refused that was sent then.
func refused(w *world.Cluster, sent, answered float64, name string, binding bool) {
	requests(w, sent, 1)
	f := &sources.Refused{Pod: world.Key(name), UID: world.PendingPod(name, "1").UID, Sent: world.At(sent), Binding: binding}
	if binding {
		f.Node = "node-a"
	}
	w.Add(answered, f)
}

// TestRefused: what follows where the API server refuses what the scheduler asks for, since the pod was deleted.
func TestRefused(t *testing.T) {
	play(t, []scene{
		{"a patch: the loop has waited for the answer", 2, 2.5, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			requests(w, 1.9, 150)
			web := comes(w, 2, "web", "4", nil)
			comes(w, 2.05, "db", "4", free)
			world.Change(w, 2.1, sources.Deleted, web, nil)
			refused(w, 2.3, 2.302, "web", false)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (requests)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.051 db active UnscheduledPodAdd
			2.101 web deleted
			2.302 db inflight (turn)
			2.303 db unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
	playWith(t, func(cfg *schedulerconfig.Config) { *cfg = *cfg.ForVersion("v1.34.1") }, []scene{ // whose loop waits for no patch
		{"the patch of an attempt before, and then the binding: it is in flight until that", 2, 2.5, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			requests(w, 1.9, 150)
			web := comes(w, 2, "web", "2", nil)
			world.Change(w, 2.1, sources.Deleted, web, nil)
			refused(w, 2.2, 2.202, "web", false)
			refused(w, 2.3, 2.302, "web", true)
		}, `
			2.001 web active UnschedulablePodAdd
			2.001 web inflight (turn)
			2.302 other backoff AssignedPodDelete
			2.302 web deleted
			2.302 other inflight (turn)
			2.303 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestFailedByError: the patch of an attempt that failed with an error says so, as does a log, whatever plugin the model had rejected it by. The
// pod has been backing off since then, and no event wakes it (scheduling_queue.go, v1.33, AddUnschedulableIfNotPresent).
func TestFailedByError(t *testing.T) {
	err := func(w *world.Cluster, seconds, patched float64, pod *v1.Pod) {
		pod = world.Change(w, seconds, sources.Updated, pod, func(p *v1.Pod) {
			world.Reject(p, "running PreFilter plugin \"VolumeBinding\": error getting PVC", "")
			p.Status.Conditions[0].Reason = v1.PodReasonSchedulerError
		})
		w.Add(seconds, &sources.StatusPatched{Pod: world.Key(pod.Name), UID: pod.UID, Sent: world.At(patched)})
	}
	fails := func(w *world.Cluster) {
		nodes(w, "2", "node-a")
		err(w, 2.01, 2.005, comes(w, 2, "web", "4", nil))
	}
	play(t, []scene{
		{"the model had it rejected", 2, 4.5, func(w *world.Cluster) {
			fails(w)
			world.Change(w, 2.5, sources.Added, world.Node("node-b", "3"), nil)
		}, `
			2.001 web active UnscheduledPodAdd
			2.004 web inflight (failure)
			2.004 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.010 web backoff ScheduleAttemptFailure (outcome)
			4.000 web active BackoffComplete
			4.000 web inflight (turn)
			4.001 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 670µs
		`},
	})
	playWith(t, func(cfg *schedulerconfig.Config) { cfg.AsyncAPICalls = true }, []scene{
		{"the model has just woken it, and tries it again", 2, 2.6, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			small := w.AddSmall(1.9)
			web := comes(w, 2, "web", "4", free)
			w.Delete(2.0085, small)
			err(w, 2.01, 2.005, web)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.010 other backoff AssignedPodDelete
			2.010 web backoff AssignedPodDelete
			2.010 other unschedulable (not tried)
			2.010 web inflight (turn)
			2.010 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 420µs
			2.010 web backoff ScheduleAttemptFailure (outcome)
		`},
	})
	play(t, []scene{
		{"the scheduler's log says it", 2, 2.6, func(w *world.Cluster) {
			w.Add(0.5, &sources.Logged{Verbosity: 2})
			nodes(w, "2", "node-a")
			web := comes(w, 2, "web", "4", nil)
			w.Add(2.003, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Log: true, Error: true, Message: "error getting PVC"})
		}, `
			2.001 web active UnscheduledPodAdd
			2.002 web inflight (failure)
			2.003 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 1.3ms (outcome)
			2.003 web backoff ScheduleAttemptFailure (outcome)
		`},
	})
	playWith(t, func(cfg *schedulerconfig.Config) { *cfg = *cfg.ForVersion("v1.28.4") }, []scene{
		{"up to v1.28 it waits among the others", 2, 2.6, fails, `
			2.001 web active PodAdd
			2.004 web inflight (failure)
			2.004 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestOutlasts: where requests wait for each other, a patch that is not seen before the end is sent behind it, and until then the
// loop makes no attempt.
func TestOutlasts(t *testing.T) {
	play(t, []scene{
		{"it waits", 2, 2.5, func(w *world.Cluster) {
			nodes(w, "2", "node-a")
			requests(w, 1.9, 150)
			comes(w, 2, "web", "4", nil)
			comes(w, 2.05, "db", "4", free)
		}, `
			2.001 web active UnscheduledPodAdd
			2.001 web inflight (turn)
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.051 db active UnscheduledPodAdd
			2.500 db inflight (turn)
		`},
	})
}

// reasons replays rec and tells of each move of the named pod where to it goes, and why the model made it.
func reasons(t *testing.T, rec *sources.Recording, pod string) (told []string) {
	t.Helper()
	if err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
		if m.Pod.Key.Name == pod {
			told = append(told, fmt.Sprintf("%s: %s", m.To, m.Pod.Cause.Sentence(words.Zone{})))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return told
}

// TestBecause: each modelled move says by which rule it was made, and on what evidence.
func TestBecause(t *testing.T) {
	const queued, turn = "active: By the queue's own rules.", "inflight: Popped in queue order; such an attempt may leave no trace."
	t.Run("in its turn, and no binding is seen", func(t *testing.T) {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Change(&c, 2, sources.Added, world.PendingPod("web", "3"), nil)
		db := world.Change(&c, 6, sources.Added, world.PendingPod("db", "4"), nil)
		c.Bound(6.01, db, "node-a")
		rec := c.Recording(6.5)
		expect(t, "web", reasons(t, rec, "web")[:3], []string{queued, turn, "unschedulable: It was assigned to a node here, and no binding was observed."})
		expect(t, "db", reasons(t, rec, "db"), []string{queued, turn, "scheduled: Moved to match its binding at 12:00:06.010."})
	})
	t.Run("it is seen to fail", func(t *testing.T) {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
		c.AddStuck(2, "web")
		expect(t, "web", reasons(t, c.Recording(3), "web"), []string{queued,
			"inflight: Popped because its attempt is the next one observed: it failed at 12:00:02.003, according to its Event.",
			"unschedulable: Moved to match the Event of its failure at 12:00:02.003."})
	})
	t.Run("it is seen to fail once more, which the model has not made of it", func(t *testing.T) {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
		web := c.AddStuck(2, "web")
		c.Failed(5, web, "0/1 nodes are available: 1 Insufficient memory.")
		c.Patched(8, web, "0/1 nodes are available: 1 Insufficient pods.", "")
		expect(t, "web", reasons(t, c.Recording(9), "web")[3:], []string{
			"inflight: The loop had popped it before, according to what followed from it; the model was behind.",
			"unschedulable: Moved to match the Event of its failure at 12:00:05.000.",
			"inflight: The loop had popped it before, according to what followed from it; the model was behind.",
			"unschedulable: Moved to match the patch of its status at 12:00:08.000."})
	})
}

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
