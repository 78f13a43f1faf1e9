package shadow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// rerunMoves reruns rec with a local scheduler and returns the pod's moves.
func rerunMoves(t *testing.T, rec *sources.Recording, pod string) (moves []string) {
	t.Helper()
	rec.Rerun = true
	f := shadow.NewFeed(rec, world.Config(t))
	t.Cleanup(f.Close)
	for i := 0; f.HasEvent(i); i++ {
		if m, ok := f.Events[i].Fact.(*shadow.Move); ok && m.Pod.Name == pod {
			moves = append(moves, strings.TrimSpace(fmt.Sprintf("%.1f %s %s %s", f.Events[i].Time.Sub(world.At(0)).Seconds(), m.To, m.Event, m.Node)))
		}
	}
	if f.Err != nil {
		t.Error(f.Err)
	}
	return moves
}

// TestTriggers: a scenario's facts that are triggered by the n-th move of a pod into a tier occur the
// given time after it.
func TestTriggers(t *testing.T) {
	grown := world.Node("node-a", "8")
	for _, c := range []struct {
		name string
		of   sources.Triggered
		want string // when web is woken again, and by which event
	}{
		{"its first failure", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: 5 * time.Second,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, "7.0 active NodeUpdateNodeAllocatable"},
		{"a second failure, which does not occur", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 2,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, ""},
		{"another pod's failure", sources.Triggered{Pod: world.Key("other"), Into: sources.TierUnschedulable, Nth: 1,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, ""},
		{"another namespace's pod", sources.Triggered{Pod: func() (k struct{ Namespace, Name string }) { k.Namespace, k.Name = "other", "web"; return }(), Into: sources.TierUnschedulable, Nth: 1,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, ""},
		{"its success", sources.Triggered{Pod: world.Key("web"), Into: sources.TierScheduled, Nth: 1,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, ""},
		{"the user activates it", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: 3 * time.Second,
			Facts: []sources.Fact{&sources.Injected{Pod: world.Key("web")}}}, "5.0 active ForceActivate"},
		{"a running pod is deleted", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: 2 * time.Second,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Deleted, Object: world.PendingPod("old", "1")}}}, "4.0 active AssignedPodDelete"},
		{"an unknown pod is deleted", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: 2 * time.Second,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Deleted, Object: world.PendingPod("nobody", "1")}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			w.Add(0.5, &c.of)
			world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(&w, 1, sources.Added, world.PendingPod("old", "1"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
			world.Change(&w, 2, sources.Added, world.PendingPod("web", "1"), nil)
			world.Change(&w, 6, sources.Added, world.Node("small", "100m"), nil)
			moves := rerunMoves(t, w.Recording(20), "web")
			want := []string{"2.0 active UnscheduledPodAdd", "2.0 inflight", "2.0 unschedulable ScheduleAttemptFailure"}
			expect(t, "first moves", moves[:3], want)
			again := ""
			if len(moves) > 3 {
				again = moves[3]
			}
			if again != c.want {
				t.Errorf("the next move is %q, want %q", again, c.want)
			}
		})
	}
}

// TestTriggersInOrder: facts that several moves trigger are played in time order between the recorded ones.
func TestTriggersInOrder(t *testing.T) {
	var w world.Cluster
	key := world.Key("web")
	add := func(name string) sources.Fact {
		return &sources.ObjectChange{Verb: sources.Added, Object: world.PendingPod(name, "100m")}
	}
	w.Add(0.5, &sources.Triggered{Pod: key, Into: sources.TierActive, Nth: 1, After: 6 * time.Second, Facts: []sources.Fact{add("late")}})
	w.Add(0.6, &sources.Triggered{Pod: key, Into: sources.TierScheduled, Nth: 1, After: time.Second, Facts: []sources.Fact{add("soon"), add("too")}})
	world.Change(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
	world.Change(&w, 2, sources.Added, world.PendingPod("web", "1"), nil)
	world.Change(&w, 4, sources.Added, world.PendingPod("between", "100m"), nil)
	rec := w.Recording(20)
	rec.Rerun = true
	f := shadow.NewFeed(rec, world.Config(t))
	t.Cleanup(f.Close)
	var order []string
	for i := 0; f.HasEvent(i); i++ {
		if m, ok := f.Events[i].Fact.(*shadow.Move); ok && m.To == sources.TierScheduled {
			order = append(order, fmt.Sprintf("%.0f %s on %s", f.Events[i].Time.Sub(world.At(0)).Seconds(), m.Pod.Name, m.Node))
		}
	}
	expect(t, "scheduled", order, []string{"2 web on node-a", "3 soon on node-a", "3 too on node-a", "4 between on node-a", "8 late on node-a"})
}

// TestRerunRepeatsUserActions: a rerun of a saved what-if repeats the user's actions.
func TestRerunRepeatsUserActions(t *testing.T) {
	for what, want := range map[string][]string{
		"":                         {"5.0 active ForceActivate", "5.0 inflight", "5.0 unschedulable ScheduleAttemptFailure"},
		queue.LeftoverFlush:        nil, // too early to move the pod
		queue.InjectableNames()[0]: {"5.0 active " + queue.MoveAll.Label(), "5.0 inflight", "5.0 unschedulable ScheduleAttemptFailure"},
		"unknown action":           nil,
	} {
		var w world.Cluster
		w.Add(0.5, &sources.Injected{What: what, Pod: world.Key("web")}) // before the pod exists
		world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
		world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
		w.Add(5, &sources.Injected{What: what, Pod: world.Key("web")})
		expect(t, fmt.Sprintf("%q", what), rerunMoves(t, w.Recording(10), "web")[3:], want)
	}
}

// TestRerunSkipsQuietTime: of a time without events that is longer than a day, a rerun plays the first hour
// and the last day. In between there are only the same flushes. It plays all of a shorter one.
func TestRerunSkipsQuietTime(t *testing.T) {
	quiet := func(seconds float64) (moves []string) {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
		world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
		world.Change(&w, seconds, sources.Added, world.Node("node-b", "8"), nil)
		return rerunMoves(t, w.Recording(seconds+10), "web")[3:]
	}
	failed := func(at string) []string {
		return []string{at + " inflight", at + " unschedulable ScheduleAttemptFailure"}
	}
	bound := func(at string) []string {
		return []string{at + " active NodeAdd", at + " inflight", at + " scheduled  node-b", at + " deleted"}
	}
	flushed := append([]string{"331.0 active UnschedulableTimeout"}, failed("331.0")...)
	expect(t, "in 400 s", quiet(400), append(flushed, bound("400.0")...))
	moves := quiet(100_000)
	expect(t, "in more than a day, first moves", moves[:3], flushed)
	expect(t, "in more than a day, last moves", moves[len(moves)-4:], bound("100000.0"))
	var hour, between, day int
	for _, m := range moves {
		var at float64
		if _, err := fmt.Sscan(m, &at); err != nil {
			t.Fatal(err)
		}
		switch {
		case at < 3602:
			hour++
		case at < 13_600:
			between++
		default:
			day++
		}
	}
	if hour != 30 || between != 0 || day < 3*86_400/331 { // a flush every 330 s
		t.Errorf("%d moves in the first hour, %d between, %d in the last day", hour, between, day)
	}
}

// TestRerunRelease: the name of a rerun contains the release that it was given. The rerun of a rerun is
// the same recording.
func TestRerunRelease(t *testing.T) {
	rec := world.WithVictim("1")
	again, err := shadow.Rerun(rec, "v1.30")
	if err != nil || again.Name != rec.Name+" under v1.30" || !again.Rerun || rec.Rerun || len(again.Notices) != len(rec.Notices)+1 {
		t.Errorf("%v, %+v", err, again)
	}
	if plain, err := shadow.Rerun(rec, ""); err != nil || plain.Name != rec.Name {
		t.Errorf("%v, without a release its name is %s", err, plain.Name)
	}
	if third, err := shadow.Rerun(again, "v1.29"); err != nil || third != again {
		t.Errorf("%v, the rerun of a rerun is %+v", err, third)
	}
	if _, err := shadow.Rerun(world.RecordingOf(world.Move(1, "web", sources.TierActive, "")), ""); err == nil || !strings.Contains(err.Error(), "holds no pods' objects") {
		t.Errorf("a log of moves: %v", err)
	}
}

// TestRerunRemovesSchedulerWrites: a rerun removes from a pod's changes the writes of the recorded scheduler
// and of the API server at its binding: node, condition, phase and the node's labels. Labels of its own
// stay.
func TestRerunRemovesSchedulerWrites(t *testing.T) {
	var w world.Cluster
	w.Started(0.5)
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	binds := func(name, zone string) *v1.Pod {
		pod := world.Change(&w, 2, sources.Added, world.PendingPod(name, "4"), func(p *v1.Pod) {
			p.Labels = map[string]string{"app": name}
			if zone != "" {
				p.Labels[v1.LabelTopologyZone] = zone
			}
		})
		bound := world.Change(&w, 5, sources.Updated, pod, func(p *v1.Pod) {
			p.Spec.NodeName, p.Status.Phase = "node-a", v1.PodRunning
			p.Labels[v1.LabelTopologyZone], p.Labels[v1.LabelTopologyRegion], p.Labels["new"] = "z1", "r1", "yes"
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue}, {Type: v1.PodReady, Status: v1.ConditionTrue}}
		})
		world.Change(&w, 5.5, sources.Updated, bound, nil)
		return bound
	}
	web := binds("web", "")
	binds("own", "z1")
	w.Add(6, &sources.Mark{})
	rec := w.Recording(10)
	rec.Rerun = true
	f := shadow.NewFeed(rec, world.Config(t))
	t.Cleanup(f.Close)
	last, others := map[string]*v1.Pod{}, 0
	for i := 0; f.HasEvent(i); i++ {
		switch fact := f.Events[i].Fact.(type) {
		case *sources.ObjectChange:
			if pod, ok := fact.Object.(*v1.Pod); ok {
				last[pod.Name] = pod
			}
		case *sources.Mark, *sources.SchedulerStarted:
			others++
		}
	}
	for name, want := range map[string]string{"web": "map[app:web new:yes]", "own": "map[app:own new:yes topology.kubernetes.io/zone:z1]"} {
		pod := last[name]
		if got := fmt.Sprint(pod.Labels); got != want || pod.Spec.NodeName != "" || pod.Status.Phase != v1.PodPending {
			t.Errorf("%s has %s, is %s on %q, want %s", name, got, pod.Status.Phase, pod.Spec.NodeName, want)
		}
		if c := pod.Status.Conditions; len(c) != 2 || c[0].Type != v1.PodReady || c[1].Status != v1.ConditionFalse || c[1].Message != world.TooSmall {
			t.Errorf("%s has the conditions %+v", name, c)
		}
	}
	if web.Spec.NodeName != "node-a" || len(web.Status.Conditions) != 2 || web.Status.Conditions[0].Status != v1.ConditionTrue {
		t.Errorf("the recording's pod was changed to %+v", web)
	}
	if others != 2 {
		t.Errorf("%d of the mark and the scheduler's start are in the feed", others)
	}
}

// TestRerunAsync: a loop that does not wait for the responses to its patches pops the next pod at once, and
// its patches are written.
func TestRerunAsync(t *testing.T) {
	for async, least := range map[bool]float64{true: 0, false: 0.005} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
		world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
		world.Change(&w, 2, sources.Added, world.PendingPod("db", "4"), nil)
		rec, cfg := w.Recording(3), world.Config(t)
		rec.Rerun, cfg.AsyncAPICalls = true, async
		f := shadow.NewFeed(rec, cfg)
		t.Cleanup(f.Close)
		var tried []float64
		written := map[string]bool{}
		for i := 0; f.HasEvent(i); i++ {
			switch fact := f.Events[i].Fact.(type) {
			case *shadow.Move:
				if fact.To == sources.TierInFlight {
					tried = append(tried, f.Events[i].Time.Sub(world.At(0)).Seconds())
				}
			case *sources.ObjectChange:
				if pod, ok := fact.Object.(*v1.Pod); ok && len(pod.Status.Conditions) > 0 {
					written[pod.Name] = true
				}
			}
		}
		if len(tried) != 2 || tried[1]-tried[0] < least || async && tried[1]-tried[0] > 0.005 || len(written) != 2 {
			t.Errorf("async %t: tried at %v, patched are %v", async, tried, written)
		}
	}
}

// checkRerun compares the trace of a rerun of each scenario.
func checkRerun(t *testing.T, scenarios []scenario) {
	t.Helper()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			var w world.Cluster
			s.setup(&w)
			rec := w.Recording(s.until)
			rec.Rerun = true
			compareTrace(t, traceRecording(t, rec, world.Config(t), s.from), s.want)
		})
	}
}

// TestRerunConcurrentChanges: objects change in a rerun during an attempt, a request or a preemption.
func TestRerunConcurrentChanges(t *testing.T) {
	checkRerun(t, []scenario{
		{"a pod is nominated to the node of another, which loses its nomination at once", 2, 2.4, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			addRunningPod(w, "low", "1", 0, 30)
			addRunningPod(w, "other", "1", 10, 30)
			addPod(w, 2, "mid", "1", priority(50))
			addPod(w, 2.3, "high", "2", priority(100))
		}, `
			2.000 mid: pending
			2.001 mid active UnscheduledPodAdd
			2.001 mid inflight
			2.002 mid unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.007 mid: nominated to node-a
			2.011 low: terminating
			2.300 high: pending
			2.301 high active UnscheduledPodAdd
			2.301 high inflight
			2.302 mid: rejected
			2.302 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.303 mid backoff AssignedPodDelete
			2.307 high: nominated to node-a
			2.307 mid inflight
			2.307 mid unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.311 other: terminating
			2.312 mid: rejected
		`},
		{"many nodes are added during a victim's deletion, which is requested once", 2, 2.1, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
			addRunningPod(w, "a", "1", 0, 30)
			addRunningPod(w, "b", "1", 0, 30)
			addPod(w, 2, "high", "2", priority(100))
			for i := range 120 {
				world.Change(w, 2.002, sources.Added, world.Node(fmt.Sprint("small-", i), "100m"), nil)
			}
		}, `
			2.000 high: pending
			2.001 high active UnscheduledPodAdd
			2.001 high inflight
			2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
			2.007 high: nominated to node-a
			2.011 a: terminating
			2.021 b: terminating
		`},
		{"a node is delivered just as an attempt ends", 2, 6, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			addPod(w, 2, "web", "2", nil)
			world.Change(w, 2.00070150001, sources.Added, world.Node("node-b", "2"), nil) // delivered a millisecond later
		}, `
			2.000 web: pending
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.002 web backoff NodeAdd
			2.007 web: rejected
			2.007 web inflight
			2.012 web scheduled node-b
			2.012 web: on node-b
			2.013 web deleted
		`},
		{"a pod is updated, and a node deleted, during its binding", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			node := world.Change(w, 1, sources.Added, world.Node("node-b", "100m"), nil)
			web := addPod(w, 2, "web", "1", nil)
			world.Change(w, 2.003, sources.Updated, web, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
			world.Change(w, 2.004, sources.Deleted, node, nil)
		}, `
			2.000 web: pending
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.003 web: pending
			2.007 web scheduled node-a
			2.007 web: on node-a
			2.008 web deleted
		`},
		{"a pod is deleted during its binding, and created again", 2, 3, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			web := addPod(w, 2, "web", "1", nil)
			world.Change(w, 2.003, sources.Deleted, web, nil)
			w.Add(2.0035, &sources.Mark{})
			addPod(w, 2.0055, "web", "4", nil)
		}, `
			2.000 web: pending
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.003 web: deleted
			2.003 web backoff ScheduleAttemptFailure
			2.004 web deleted
			2.006 web: pending
			2.006 web active UnscheduledPodAdd
			2.007 web inflight
			2.007 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.012 web: rejected
		`},
		{"a scheduler starts after a gated pod was created and another pod deleted", 2, 5, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			addPod(w, 1, "web", "1", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} })
			world.Change(w, 1.6, sources.Deleted, addPod(w, 1.5, "gone", "1", nil), nil)
			w.Started(3.1)
			w.Add(3.2, &sources.Mark{})
		}, `
			3.100 web gated UnscheduledPodAdd
		`},
		{"the user activates a pod in flight", 2, 2.5, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			addPod(w, 2, "web", "2", nil)
			w.Add(2.0014, &sources.Injected{Pod: world.Key("web")})
		}, `
			2.000 web: pending
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.002 web backoff ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.007 web: rejected
			2.007 web inflight
			2.007 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.012 web: rejected
		`},
		{"the user wakes all pods while the loop waits for a response", 2, 2.5, func(w *world.Cluster) {
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			addPod(w, 2, "web", "2", nil)
			w.Add(2.003, &sources.Injected{What: queue.InjectableNames()[0]})
			w.Add(2.004, &sources.Mark{})
		}, `
			2.000 web: pending
			2.001 web active UnscheduledPodAdd
			2.001 web inflight
			2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.003 web backoff *All
			2.007 web: rejected
			2.007 web inflight
			2.007 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.012 web: rejected
		`},
	})
}

// TestTriggeredFactsBetweenOthers: a triggered fact is played at its own time, between a recorded one and
// its delivery.
func TestTriggeredFactsBetweenOthers(t *testing.T) {
	trigger := func(after time.Duration, fact sources.Fact) func(w *world.Cluster) {
		return func(w *world.Cluster) {
			w.Add(0.5, &sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: after, Facts: []sources.Fact{fact}})
			world.Change(w, 1, sources.Added, world.Node("node-a", "1"), nil)
			addPod(w, 2, "web", "4", nil)
			addPod(w, 3.99, "recorded", "100m", nil)
		}
	}
	pod := &sources.ObjectChange{Verb: sources.Added, Object: world.PendingPod("new", "100m")}
	checkRerun(t, []scenario{
		{"the user activates the pod", 3, 3.9, trigger(1500*time.Millisecond, &sources.Injected{Pod: world.Key("web")}), `
			3.502 web active ForceActivate
			3.502 web inflight
			3.502 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			3.990 recorded: pending
		`},
		{"a pod is created just before another is delivered", 3, 5, trigger(1989*time.Millisecond, pod), `
			3.990 recorded: pending
			3.991 new: pending
			3.991 recorded active UnscheduledPodAdd
			3.991 recorded inflight
			3.992 new active UnscheduledPodAdd
			3.992 new inflight
			3.997 recorded scheduled node-a
			3.997 recorded: on node-a
			3.997 new scheduled node-a
			3.997 new: on node-a
			3.998 recorded deleted
			3.998 new deleted
		`},
		{"a pod is created just after another is delivered", 3, 5, trigger(1991*time.Millisecond, pod), `
			3.990 recorded: pending
			3.991 recorded active UnscheduledPodAdd
			3.991 recorded inflight
			3.993 new: pending
			3.994 new active UnscheduledPodAdd
			3.994 new inflight
			3.997 recorded scheduled node-a
			3.997 recorded: on node-a
			3.998 recorded deleted
			3.999 new scheduled node-a
			3.999 new: on node-a
			4.000 new deleted
		`},
	})
}

// priority sets a pod's priority.
func priority(p int32) func(*v1.Pod) { return func(pod *v1.Pod) { pod.Spec.Priority = &p } }

// addRunningPod adds a pod on node-a with that priority and grace period in seconds.
func addRunningPod(w *world.Cluster, name, cpu string, p int32, grace int64) *v1.Pod {
	return world.Change(w, 1, sources.Added, world.PendingPod(name, cpu), func(pod *v1.Pod) {
		priority(p)(pod)
		pod.Spec.NodeName, pod.Spec.TerminationGracePeriodSeconds = "node-a", &grace
	})
}

// traceRerun returns the trace of a rerun of w, from 2 s on.
func traceRerun(t *testing.T, w *world.Cluster, until float64) string {
	t.Helper()
	rec := w.Recording(until)
	rec.Rerun = true
	return traceRecording(t, rec, world.Config(t), 2)
}

// addPreemptor adds a pod with two victims: one is deleted at once, the other has a grace period of 30 s.
func addPreemptor(w *world.Cluster) {
	world.Change(w, 1, sources.Added, world.Node("node-a", "2"), nil)
	addRunningPod(w, "quick", "1", 0, 0)
	addRunningPod(w, "slow", "1", 1, 30)
	world.Change(w, 2, sources.Added, world.PendingPod("high", "2"), priority(100))
}

// TestRerunPreemption: victims are deleted one after the other and terminate after their grace period, or
// after a second. The preemptor is gated until the last deletion was requested, and is tried again
// when the first victim has terminated.
func TestRerunPreemption(t *testing.T) {
	var w world.Cluster
	addPreemptor(&w)
	world.Change(&w, 2.5, sources.Added, world.PendingPod("next", "1"), priority(50)) // the resources are reserved for high
	compareTrace(t, traceRerun(t, &w, 10), `
		2.000 high: pending
		2.001 high active UnscheduledPodAdd
		2.001 high inflight
		2.002 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.007 high: nominated to node-a
		2.011 slow: terminating
		2.021 quick: terminating
		2.021 quick: deleted
		2.022 high backoff AssignedPodDelete
		2.022 high inflight
		2.023 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.028 high: nominated to node-a
		2.500 next: pending
		2.501 next active UnscheduledPodAdd
		2.501 next inflight
		2.502 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		2.507 next: rejected
		3.011 slow: deleted
		3.012 high backoff AssignedPodDelete
		3.012 next backoff AssignedPodDelete
		3.012 next inflight
		3.013 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		3.018 next: rejected
		3.018 high inflight
		3.023 high scheduled node-a
		3.023 high: on node-a
		3.024 high deleted`)
}

// TestRerunSynchronousPreemption: up to v1.32 the loop deletes the victims during the attempt, so the next
// attempt starts afterwards. The preemptor is not gated.
func TestRerunSynchronousPreemption(t *testing.T) {
	var w world.Cluster
	addPreemptor(&w)
	world.Change(&w, 2.001, sources.Added, world.PendingPod("next", "4"), nil)
	rec := w.Recording(2.5)
	rec.Rerun = true
	compareTrace(t, traceRecording(t, rec, world.Config(t).ForVersion("v1.32.0"), 2), `
		2.000 high: pending
		2.001 high active UnschedulablePodAdd
		2.001 next: pending
		2.001 high inflight
		2.002 next active UnschedulablePodAdd
		2.011 slow: terminating
		2.011 quick: terminating
		2.011 quick: deleted
		2.011 high unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 10.04ms
		2.012 high backoff AssignedPodDelete
		2.016 high: nominated to node-a
		2.016 next inflight
		2.017 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
		2.022 next: rejected`)
}

// TestRerunSharedVictim: a victim that two preemptors chose is deleted once.
func TestRerunSharedVictim(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "3"), nil)
	addRunningPod(&w, "one", "1", 0, 0)
	addRunningPod(&w, "two", "1", 1, 0)
	addRunningPod(&w, "three", "1", 2, 0)
	world.Change(&w, 2, sources.Added, world.PendingPod("a", "1"), priority(100))
	world.Change(&w, 2, sources.Added, world.PendingPod("b", "2"), priority(100))
	compareTrace(t, traceRerun(t, &w, 10), `
		2.000 a: pending
		2.000 b: pending
		2.001 a active UnscheduledPodAdd
		2.001 b active UnscheduledPodAdd
		2.001 a inflight
		2.002 a unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.007 a: nominated to node-a
		2.007 b inflight
		2.007 b unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.011 one: terminating
		2.011 one: deleted
		2.012 a backoff AssignedPodDelete
		2.012 b gated AssignedPodDelete
		2.012 b: nominated to node-a
		2.012 a inflight
		2.013 a unschedulable ScheduleAttemptFailure NodeResourcesFit node-a in 660µs
		2.017 three: terminating
		2.017 three: deleted
		2.018 b gated AssignedPodDelete
		2.018 a gated AssignedPodDelete
		2.018 a: nominated to node-a
		2.027 two: terminating
		2.027 two: deleted
		2.028 b backoff AssignedPodDelete
		2.028 a backoff AssignedPodDelete
		2.028 b inflight
		2.028 a inflight
		2.033 b scheduled node-a
		2.033 b: on node-a
		2.034 a scheduled node-a
		2.034 a: on node-a
		2.034 b deleted
		2.035 a deleted`)
}

// TestRerunDeletedPod: a scheduler's write to a deleted pod is refused: the pod stays deleted, and its
// resources are free.
func TestRerunDeletedPod(t *testing.T) {
	for _, c := range []struct {
		name, cpu string
		deleted   float64
		want      string
	}{
		{"before the response to its patch", "4", 2.004, `2.002 web unschedulable ScheduleAttemptFailure NodeResourcesFit in 660µs
			2.004 web: deleted
			2.005 web deleted`},
		{"during its binding", "1", 2.003, `2.003 web: deleted
			2.003 web backoff ScheduleAttemptFailure
			2.004 web deleted`},
		{"just before it is bound", "1", 2.0064, `2.006 web: deleted
			2.006 web backoff ScheduleAttemptFailure
			2.007 web deleted`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(&w, c.deleted, sources.Deleted, world.Change(&w, 2, sources.Added, world.PendingPod("web", c.cpu), nil), nil)
			world.Change(&w, 3, sources.Added, world.PendingPod("db", "1"), nil)
			compareTrace(t, traceRerun(t, &w, 5), `
				2.000 web: pending
				2.001 web active UnscheduledPodAdd
				2.001 web inflight
				`+c.want+`
				3.000 db: pending
				3.001 db active UnscheduledPodAdd
				3.001 db inflight
				3.007 db scheduled node-a
				3.007 db: on node-a
				3.008 db deleted`)
		})
	}
}

// TestRerunRateLimit: the scheduler's client sends a burst of a hundred requests, and then fifty per
// second. The loop does not wait for bindings.
func TestRerunRateLimit(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "100"), nil)
	for i := range 110 {
		world.Change(&w, 2, sources.Added, world.PendingPod(fmt.Sprint("web-", i), "100m"), nil)
	}
	var bound []string
	for line := range strings.Lines(traceRerun(t, &w, 5)) {
		if at, of, _ := strings.Cut(strings.TrimSpace(line), " "); strings.Contains(of, " scheduled ") {
			bound = append(bound, at)
		}
	}
	expect(t, "bound", append(bound[:1], bound[100:]...), []string{"2.011", "2.081", "2.082", "2.082", "2.091", "2.111", "2.131", "2.151", "2.171", "2.191", "2.211"})
}

// TestRerunSparesVictims: a rerun does not repeat the deletion of a pod that the recorded scheduler
// preempted. It repeats all others.
func TestRerunSparesVictims(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    v1.PodCondition
		lives bool
	}{
		{"preempted", v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}, true},
		{"condition is false", v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionFalse, Reason: v1.PodReasonPreemptionByScheduler}, false},
		{"evicted", v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: "EvictionByEvictionAPI"}, false},
		{"another condition", v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
			low := addRunningPod(&w, "low", "1", 0, 30)
			low = world.Change(&w, 2, sources.Updated, low, func(p *v1.Pod) { p.Status.Conditions = []v1.PodCondition{c.of} })
			low = world.Change(&w, 2.1, sources.Updated, low, func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: world.At(32)} })
			world.Change(&w, 3, sources.Deleted, low, nil)
			want := "2.000 low: on node-a\n2.100 low: terminating\n3.000 low: deleted"
			if c.lives {
				want = "2.000 low: on node-a\n2.100 low: on node-a"
			}
			compareTrace(t, traceRerun(t, &w, 5), want)
		})
	}
}

// TestRerunResourceVersions: the scheduler's writes and the recorded changes have ascending resource
// versions, and the recording's objects keep theirs.
func TestRerunResourceVersions(t *testing.T) {
	var w world.Cluster
	w.Version = 100
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	web := world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
	for range 7 {
		world.Change(&w, 3, sources.Updated, web, func(p *v1.Pod) { p.Labels = map[string]string{"new": "yes"} })
	}
	rec := w.Recording(3)
	rec.Rerun = true
	f := shadow.NewFeed(rec, world.Config(t))
	t.Cleanup(f.Close)
	var versions []string
	for i := 0; f.HasEvent(i); i++ {
		if c, ok := f.Events[i].Fact.(*sources.ObjectChange); ok {
			versions = append(versions, c.Object.(metav1.Object).GetResourceVersion())
		}
	}
	expect(t, "versions", versions, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}) // the third is the patch of web's condition
	if web.ResourceVersion != "102" {
		t.Errorf("the recording's pod has version %s now", web.ResourceVersion)
	}
}
