package shadow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// podMoves returns the pod's moves in rec, one a string: "10.5 backoff".
func podMoves(t *testing.T, rec *sources.Recording, popFromBackoffQ bool, pod string) (moves []string) {
	t.Helper()
	cfg := world.Config(t)
	cfg.Queue.PopFromBackoffQ = popFromBackoffQ
	f := shadow.NewFeed(rec, cfg)
	t.Cleanup(f.Close)
	for i := 0; f.HasEvent(i); i++ {
		at := f.Events[i].Time.Sub(world.At(0)).Seconds()
		switch m := f.Events[i].Fact.(type) {
		case *shadow.Move:
			if m.Pod.Name == pod && !m.Restated {
				estimate := ""
				if m.Estimate != nil {
					estimate = fmt.Sprintf("after %d by %s", m.Estimate.Attempts, strings.Join(m.Estimate.UnschedulablePlugins, ","))
				}
				moves = append(moves, strings.TrimSpace(fmt.Sprintf("%.1f %s %s%s", at, m.To, m.Event, estimate)))
			}
		case *sources.Move:
			if m.Pod.Name == pod {
				moves = append(moves, fmt.Sprintf("%.1f logged %s", at, m.To))
			}
		}
	}
	if f.Err != nil {
		t.Error(f.Err)
	}
	return moves
}

// rejectedAt gives a pod the condition of an attempt that failed at that second.
func rejectedAt(seconds float64, message string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		world.Reject(p, message, "")
		p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(world.At(seconds))
	}
}

// TestPositionsAtAttach: the model estimates each pod's tier when a source attaches to a running
// scheduler, at 100 s. Later events move the pod from there.
func TestPositionsAtAttach(t *testing.T) {
	bound := func(seconds float64) func(*world.Cluster, *v1.Pod) {
		return func(c *world.Cluster, web *v1.Pod) { c.Bound(seconds, web, "node-a") }
	}
	patched := func(seconds float64, message string) func(*world.Cluster, *v1.Pod) {
		return func(c *world.Cluster, web *v1.Pod) { c.Patched(seconds, web, message, "") }
	}
	tried := func(attempts int, failed float64, version string) sources.Fact {
		return &sources.Tried{Pod: world.Key("web"), UID: "web", Attempts: attempts, Failed: world.At(failed), Message: world.TooSmall, Recorded: sources.NewRecorded(version, attempts)}
	}
	for _, c := range []struct {
		name   string
		cpu    string // requested by the pod; the node has one
		pop    bool
		pod    func(*v1.Pod)
		before sources.Fact
		after  func(*world.Cluster, *v1.Pod)
		want   []string
	}{
		{"never tried", "4", true, nil, nil, patched(100.01, world.TooSmall),
			[]string{"100.0 active UnscheduledPodAdd", "100.0 inflight", "100.0 unschedulable ScheduleAttemptFailure"}},
		{"gated", "4", true, func(p *v1.Pod) {
			rejectedAt(50, world.TooSmall)(p)
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "quota"}}
		}, nil, nil, []string{"100.0 gated UnscheduledPodAdd"}},
		{"rejected", "4", true, rejectedAt(50, world.TooSmall), nil, nil, []string{"100.0 unschedulable after 1 by NodeResourcesFit"}},
		{"rejected several times", "4", true, rejectedAt(50, world.TooSmall), tried(4, 60, "9"), nil, []string{"100.0 unschedulable after 4 by NodeResourcesFit"}},
		{"rejected, and a node is added", "4", true, rejectedAt(50, world.TooSmall), nil, func(c *world.Cluster, web *v1.Pod) {
			world.Change(c, 105, sources.Added, world.Node("node-b", "8"), nil)
			c.Bound(105.01, web, "node-b")
		}, []string{"100.0 unschedulable after 1 by NodeResourcesFit", "105.0 active NodeAdd", "105.0 inflight", "105.0 scheduled", "105.0 deleted"}},
		{"fits now", "1", true, rejectedAt(50, world.TooSmall), nil, bound(100.05),
			[]string{"100.0 active after 1 by NodeResourcesFit", "100.0 inflight", "100.0 scheduled", "100.1 deleted"}},
		{"fits now, and its attempts are observable", "1", true, rejectedAt(50, world.TooSmall), tried(1, 60, "2"), nil,
			[]string{"100.0 unschedulable after 1 by NodeResourcesFit"}},
		{"error long ago", "1", true, rejectedAt(50, reserveError), nil, bound(100.05), []string{"100.0 active after 1 by", "100.0 inflight", "100.0 scheduled", "100.1 deleted"}},
		{"error just now", "1", false, rejectedAt(99.6, reserveError), nil, bound(100.85),
			[]string{"100.0 backoff after 1 by", "100.8 active BackoffComplete", "100.8 inflight", "100.8 scheduled", "100.9 deleted"}},
		// The next attempt is observed after 4 s, when the backoff of three failures ends.
		{"error long ago, next attempt observed later", "1", false, rejectedAt(50, reserveError), nil, patched(104, reserveError+" still"), []string{"100.0 backoff after 3 by", "104.0 active BackoffComplete", "104.0 inflight", "104.0 backoff ScheduleAttemptFailure",
			"113.0 active BackoffComplete", "113.0 inflight", "113.0 unschedulable ScheduleAttemptFailure"}},
		{"fits now, next attempt observed later", "1", false, rejectedAt(50, world.TooSmall), nil, bound(107), []string{"100.0 backoff after 4 by NodeResourcesFit", "107.0 active BackoffComplete", "107.0 inflight", "107.0 scheduled", "107.0 deleted"}},
		{"next attempt observed after the longest backoff", "1", false, rejectedAt(50, world.TooSmall), nil, bound(119), []string{"100.0 active after 1 by NodeResourcesFit", "100.0 inflight", "102.0 unschedulable ScheduleAttemptFailure",
			"119.0 inflight", "119.0 scheduled", "119.0 deleted"}},
		{"no backoff if the loop pops from backoffQ", "1", true, rejectedAt(50, reserveError), nil, patched(104, reserveError+" still"), []string{"100.0 active after 1 by", "100.0 inflight", "100.0 unschedulable ScheduleAttemptFailure", "104.0 inflight", "104.0 backoff ScheduleAttemptFailure",
			"106.0 active BackoffComplete", "106.0 inflight", "106.0 unschedulable ScheduleAttemptFailure"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			world.Change(&w, 99.9, sources.Added, world.Node("node-a", "1"), nil)
			web := world.Change(&w, 99.9, sources.Added, world.PendingPod("web", c.cpu), c.pod)
			if c.before != nil {
				w.Add(99.95, c.before)
			}
			w.Add(100, &sources.Attached{Nodes: true, Began: world.At(0.8)})
			if c.after != nil {
				c.after(&w, web)
			}
			expect(t, "moves", podMoves(t, w.Recording(120), c.pop, "web"), c.want)
		})
	}
}

// TestAttachWhileRateLimited: if the scheduler's client was rate-limited at attach, its requests are
// late, so the model tries a pod in queue order without waiting for evidence of the attempt.
func TestAttachWhileRateLimited(t *testing.T) {
	for _, sent := range []int{80, 95} { // of a burst of 100
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
		w.Add(2, &sources.Attached{Nodes: true})
		for i := range sent {
			w.Add(2+float64(i)/50, &sources.Requested{})
		}
		web := world.Change(&w, 3, sources.Added, world.PendingPod("web", "4"), nil)
		world.Change(&w, 3.01, sources.Added, world.PendingPod("db", "4"), nil)
		w.Patched(4.5, web, world.TooSmall, "")
		want := map[int]string{80: "4.5 inflight", 95: "3.0 inflight"}[sent] // at its patch, or when it is created
		if got := podMoves(t, w.Recording(6), true, "web"); got[1] != want {
			t.Errorf("after %d requests in two seconds the moves are %v, want %s", sent, got, want)
		}
	}
}

// TestBackoffAtAttachWhileRateLimited: if the scheduler's client was rate-limited at attach, at 100 s,
// a pod's next attempt shows when it left backoffQ: at the last flush before it, on a whole second.
func TestBackoffAtAttachWhileRateLimited(t *testing.T) {
	smallNode := func(seconds float64) func(*world.Cluster) { // may wake pods, although it is too small
		return func(c *world.Cluster) { world.Change(c, seconds, sources.Added, world.Node("node-b", "1"), nil) }
	}
	// lateEvent adds an Event that arrives late and contains its own time.
	lateEvent := func(seconds float64, count int) func(*world.Cluster) {
		return func(c *world.Cluster) {
			c.Add(seconds, &sources.FailedAttempt{Pod: world.Key("web"), UID: "web", Message: world.TooSmall, Recorded: sources.NewRecorded("2", count)})
		}
	}
	for _, c := range []struct {
		name   string
		since  float64 // when the pod was rejected
		before func(*world.Cluster)
		after  func(*world.Cluster)
		next   float64 // when its next attempt fails
		want   []string
	}{
		{"still in activeQ", 80, nil, smallNode(100.1), 100.7, []string{"100.0 active after 1 by NodeResourcesFit", "100.7 inflight"}},
		{"flushed at the next second", 80, nil, smallNode(100.1), 101.2, []string{"100.0 backoff after 1 by NodeResourcesFit", "101.0 active BackoffComplete", "101.2 inflight"}},
		{"flushed later", 80, nil, smallNode(100.1), 104.6, []string{"100.0 backoff after 3 by NodeResourcesFit", "104.0 active BackoffComplete", "104.6 inflight"}},
		{"not woken yet", 80, nil, smallNode(100.5), 104.6, []string{"100.0 unschedulable after 3 by NodeResourcesFit", "104.6 inflight"}},
		{"the Event of its last attempt is late", 80, lateEvent(97.8, 1), smallNode(100.1), 104.6, []string{"100.0 backoff after 3 by NodeResourcesFit", "102.0 active BackoffComplete", "104.6 inflight"}},
		{"the Event of its only attempt is late", 97, lateEvent(97.8, 1), smallNode(100.1), 104.6, []string{"100.0 active after 1 by NodeResourcesFit", "104.6 inflight"}},
		{"more attempts may have followed the late Event", 97, lateEvent(97.8, 2), smallNode(100.1), 104.6, []string{"100.0 backoff after 3 by NodeResourcesFit", "104.0 active BackoffComplete", "104.6 inflight"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			w.Add(90, &sources.Logged{Verbosity: sources.AttemptsVerbosity})
			world.Change(&w, 90, sources.Added, world.Node("node-a", "1"), nil)
			web := world.Change(&w, 90, sources.Added, world.PendingPod("web", "4"), rejectedAt(c.since, world.TooSmall))
			if c.before != nil {
				c.before(&w)
			}
			w.Add(100, &sources.Attached{Nodes: true, Began: world.At(0.8)})
			for i := range 5 * 50 {
				w.Add(100.001+float64(i)/50, &sources.Requested{})
			}
			c.after(&w)
			w.Add(c.next, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Message: world.TooSmall, Log: true})
			got := podMoves(t, w.Recording(106), true, "web")
			if n := len(c.want); len(got) < n || !slices.Equal(got[:n], c.want) {
				t.Errorf("moves are %q, want %q", got, c.want)
			}
		})
	}
}

// TestAttachWithoutNodes: if a source attaches without listing nodes, the model makes no attempt before
// the first node: without nodes, each would fail with an error.
func TestAttachWithoutNodes(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 99.9, sources.Added, world.PendingPod("db", "4"), rejectedAt(50, world.TooSmall))
	w.Add(100, &sources.Attached{})
	web := world.Change(&w, 101, sources.Added, world.PendingPod("web", "4"), nil)
	w.Add(101.003, &sources.FailedAttempt{Pod: world.Key("web"), UID: web.UID, Message: world.TooSmall})
	world.Change(&w, 105, sources.Added, world.Node("node-a", "8"), nil)
	w.Bound(105.01, web, "node-a")
	expect(t, "moves", podMoves(t, w.Recording(110), true, "web"), []string{"101.0 active UnscheduledPodAdd", "101.0 inflight", "101.0 unschedulable ScheduleAttemptFailure",
		"105.0 active NodeAdd", "105.0 inflight", "105.0 scheduled", "105.0 deleted"})
}

// TestReasonsLearnedAtAttach: several plugins may give the same reason. The model learns which one gave
// it from a local attempt at attach, so only that plugin's events wake the pod after its next failure.
func TestReasonsLearnedAtAttach(t *testing.T) {
	const noClaim = `0/1 nodes are available: persistentvolumeclaim "data" not found. not found`
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
	web := world.PendingPod("web", "1")
	world.Mount(web, "data")
	world.Reject(web, noClaim, "")
	web = world.Change(&w, 1, sources.Added, web, nil)
	w.Add(1, &sources.Attached{Nodes: true})
	w.Failed(3, web, noClaim)
	w.AddSmall(5) // an assigned pod, which does not wake a pod without its claim
	f := liveFeed(t, world.Config(t), &w, 8, watchGap("", 0, 0))
	if got, want := feedMoves(f, "web"), []string{"1.0 unschedulable", "3.0 inflight", "3.0 unschedulable"}; !slices.Equal(got, want) {
		t.Errorf("moves are %v, want %v", got, want)
	}
}

// reserveError is the message of an attempt that failed with an error.
const reserveError = "running Reserve plugin: the API server is away"

// TestMovesAfterAttach checks the moves of the model after a source attaches to a running scheduler.
func TestMovesAfterAttach(t *testing.T) {
	tried := func(w *world.Cluster, seconds float64, name string, attempts int, failed float64) {
		w.Add(seconds, &sources.Tried{Pod: world.Key(name), UID: world.PendingPod(name, "1").UID, Attempts: attempts, Failed: world.At(failed), Message: world.TooSmall, Recorded: sources.NewRecorded("3", attempts)})
	}
	checkMovesWith(t, noPopFromBackoffQ, []scenario{
		{"the start time is known: flushes have its fraction of a second", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			addPod(w, 1.7, "web", "1", rejectedAt(1.7, reserveError))
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
		{"the start time is unknown", 2, 4, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			addPod(w, 1.7, "web", "1", rejectedAt(1.7, reserveError))
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
		{"the log contains all attempts, and none for a long time", 100, 112, func(w *world.Cluster) {
			logVerbosity(w, 99, sources.AttemptsVerbosity)
			addNodes(w, "1", "node-a")
			addPod(w, 99.7, "web", "4", rejectedAt(99.7, reserveError))
			w.Add(100, &sources.Attached{Nodes: true, Began: world.At(0.3)})
		}, `
			100.000 other unschedulable after 1
			100.000 web unschedulable after 5
		`},
	})
	checkMoves(t, []scenario{
		{"one pod is gated", 2, 3, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			addPod(w, 1.7, "closed", "1", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} })
			addPod(w, 1.7, "web", "4", rejectedAt(1.7, noRoom))
			w.Add(2.1, &sources.Attached{Nodes: true})
			w.Add(2.2, &sources.Mark{})
		}, `
			2.100 closed gated UnscheduledPodAdd
			2.100 other unschedulable after 1
			2.100 web unschedulable after 1
		`},
		{"a second source attaches, without the first one's data", 2, 13, func(w *world.Cluster) {
			addNodes(w, "1", "node-a")
			small := w.AddSmall(1.6)
			addPod(w, 1.7, "web", "4", rejectedAt(1.7, noRoom))
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

// TestFitChecksAtAttachAreLimited: at attach, the model checks at most half a million pairs of a pod
// and a node. The pods that it does not check are assumed not to fit.
func TestFitChecksAtAttachAreLimited(t *testing.T) {
	const nodes, pods = 4999, 102
	var w world.Cluster
	for i := range nodes {
		world.Change(&w, 1, sources.Added, world.Node(fmt.Sprint("node-", i), "1"), nil)
	}
	for i := range pods {
		addPod(&w, 1, fmt.Sprintf("web-%03d", i), "1", func(p *v1.Pod) {
			rejectedAt(0.5, noRoom)(p)
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
				{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{"node-7"}}}}}}}}
		})
	}
	w.Add(100, &sources.Attached{Nodes: true})
	f := shadow.NewFeed(w.Recording(100), world.Config(t))
	t.Cleanup(f.Close)
	drain(f)
	trace := traceFeed(f, 100, false)
	if n := strings.Count(trace, " active after"); n != 100 {
		t.Errorf("%d pods are assumed to fit: %.300s", n, trace)
	}
}
