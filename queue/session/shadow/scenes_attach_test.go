package shadow_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// away is what a scheduler says of an attempt that ended with an error.
const away = "running Reserve plugin: the API server is away"

// TestCameToAtWork: what the model makes of a scheduler at work to which a source comes.
func TestCameToAtWork(t *testing.T) {
	tried := func(w *world.Cluster, seconds float64, name string, attempts int, failed float64) {
		w.Add(seconds, &sources.Tried{Pod: world.Key(name), UID: world.PendingPod(name, "1").UID, Attempts: attempts, Failed: world.At(failed), Message: world.TooSmall, Recorded: sources.NewRecorded("3", attempts)})
	}
	playWith(t, byFlushesAlone, []scene{
		{"whose flushes run as it began", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			comes(w, 1.7, "web", "1", rejected(1.7, away))
			w.Add(2, &sources.Attached{Nodes: true, Began: world.At(0.3)})
			w.Bound(3.35, world.PendingPod("web", "1"), "node-a")
		}, `
			2.000 other unschedulable after 1
			2.000 web backoff after 1
			3.300 web active BackoffComplete
			3.300 web inflight (turn)
			3.350 web scheduled node-a (outcome)
			3.351 web deleted
		`},
		{"of which it is not known when it began", 2, 4, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			comes(w, 1.7, "web", "1", rejected(1.7, away))
			w.Add(2.1, &sources.Attached{Nodes: true})
			w.Bound(3.35, world.PendingPod("web", "1"), "node-a")
		}, `
			2.100 other unschedulable after 1
			2.100 web backoff after 1
			3.100 web active BackoffComplete
			3.100 web inflight (turn)
			3.350 web scheduled node-a (outcome)
			3.351 web deleted
		`},
		{"whose log tells all attempts, and none for long", 100, 112, func(w *world.Cluster) {
			logs(w, 99, sources.AttemptsVerbosity)
			nodes(w, "1", "node-a")
			comes(w, 99.7, "web", "4", rejected(99.7, away))
			w.Add(100, &sources.Attached{Nodes: true, Began: world.At(0.3)})
		}, `
			100.000 other unschedulable after 1
			100.000 web unschedulable after 5
		`},
	})
	play(t, []scene{
		{"beside a pod that is gated", 2, 3, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			comes(w, 1.7, "closed", "1", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} })
			comes(w, 1.7, "web", "4", rejected(1.7, noRoom))
			w.Add(2.1, &sources.Attached{Nodes: true})
			w.Add(2.2, &sources.Mark{})
		}, `
			2.100 closed gated UnscheduledPodAdd
			2.100 other unschedulable after 1
			2.100 web unschedulable after 1
		`},
		{"and then another source, which knows nothing of before", 2, 13, func(w *world.Cluster) {
			nodes(w, "1", "node-a")
			small := w.AddSmall(1.6)
			comes(w, 1.7, "web", "4", rejected(1.7, noRoom))
			tried(w, 1.9, "web", 3, 1.8)
			w.Add(2, &sources.Attached{Nodes: true})
			w.Add(10, &sources.Attached{Nodes: true})
			w.Delete(12, small)
		}, `
			2.000 other unschedulable after 1
			2.000 web unschedulable after 3
			10.000 other unschedulable after 1
			10.000 web unschedulable after 1
			12.001 other active AssignedPodDelete
			12.001 web active AssignedPodDelete
			12.001 web inflight (turn)
			12.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			12.002 other inflight (turn)
			12.002 other unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		`},
	})
}

// TestLooksAtSoMany: where a source comes to a scheduler with many pods and nodes, it is worked out of as many pods whether they fit as half
// a million looks at a node suffice for. The others are taken not to.
func TestLooksAtSoMany(t *testing.T) {
	const nodes, pods = 4999, 102
	var w world.Cluster
	for i := range nodes {
		world.Change(&w, 1, sources.Added, world.Node(fmt.Sprint("node-", i), "1"), nil)
	}
	for i := range pods {
		comes(&w, 1, fmt.Sprintf("web-%03d", i), "1", func(p *v1.Pod) {
			rejected(0.5, noRoom)(p)
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
				{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{"node-7"}}}}}}}}
		})
	}
	w.Add(100, &sources.Attached{Nodes: true})
	f := shadow.NewFeed(w.Recording(100), world.Config(t))
	t.Cleanup(f.Close)
	made(f)
	trace := traceOf(f, 100, false)
	if n := strings.Count(trace, " active after"); n != 100 {
		t.Errorf("%d pods are thought to fit: %.300s", n, trace)
	}
}
