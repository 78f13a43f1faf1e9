package shadow_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
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
