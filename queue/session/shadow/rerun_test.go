package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// reruns has a local scheduler decide over what happens in c, until seconds after noon, and returns its moves of a pod.
func reruns(t *testing.T, rec *sources.Recording, pod string) (moves []string) {
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

// TestTriggers: what a scenario ties to a move happens so long after that move, the n-th of its kind, of that pod alone.
func TestTriggers(t *testing.T) {
	grown := world.Node("node-a", "8")
	for _, c := range []struct {
		name string
		of   sources.Triggered
		want string // when web is tried again, and by what
	}{
		{"its first failure", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: 5 * time.Second,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, "7.0 active NodeUpdateNodeAllocatable"},
		{"a second failure, which does not come", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 2,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, ""},
		{"another pod's failure", sources.Triggered{Pod: world.Key("other"), Into: sources.TierUnschedulable, Nth: 1,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, ""},
		{"another namespace's pod", sources.Triggered{Pod: func() (k struct{ Namespace, Name string }) { k.Namespace, k.Name = "other", "web"; return }(), Into: sources.TierUnschedulable, Nth: 1,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, ""},
		{"its success", sources.Triggered{Pod: world.Key("web"), Into: sources.TierScheduled, Nth: 1,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Updated, Object: grown}}}, ""},
		{"somebody activates it", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: 3 * time.Second,
			Facts: []sources.Fact{&sources.Injected{Pod: world.Key("web")}}}, "5.0 active ForceActivate"},
		{"a pod goes that has room", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: 2 * time.Second,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Deleted, Object: world.PendingPod("old", "1")}}}, "4.0 active AssignedPodDelete"},
		{"a pod goes that is not there", sources.Triggered{Pod: world.Key("web"), Into: sources.TierUnschedulable, Nth: 1, After: 2 * time.Second,
			Facts: []sources.Fact{&sources.ObjectChange{Verb: sources.Deleted, Object: world.PendingPod("nobody", "1")}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			w.Add(0.5, &c.of)
			world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
			world.Change(&w, 1, sources.Added, world.PendingPod("old", "1"), func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
			world.Change(&w, 2, sources.Added, world.PendingPod("web", "1"), nil)
			world.Change(&w, 6, sources.Added, world.Node("small", "100m"), nil)
			moves := reruns(t, w.Recording(20), "web")
			want := []string{"2.0 active UnscheduledPodAdd", "2.0 inflight", "2.0 unschedulable ScheduleAttemptFailure"}
			expect(t, "at first", moves[:3], want)
			again := ""
			if len(moves) > 3 {
				again = moves[3]
			}
			if again != c.want {
				t.Errorf("then it moves %q, want %q", again, c.want)
			}
		})
	}
}

// TestTriggersInOrder: what several moves set off happens in the order of time, before and between what the recording tells.
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
	expect(t, "they are scheduled", order, []string{"2 web on node-a", "3 soon on node-a", "3 too on node-a", "4 between on node-a", "8 late on node-a"})
}

// TestInjectedIntoARerun: what a person did in a what-if, which was saved as a recording, a rerun does too.
func TestInjectedIntoARerun(t *testing.T) {
	for what, want := range map[string][]string{
		"":                         {"5.0 active ForceActivate", "5.0 inflight", "5.0 unschedulable ScheduleAttemptFailure"},
		queue.LeftoverFlush:        nil, // it has not waited long enough
		queue.InjectableNames()[0]: {"5.0 active " + queue.MoveAll.Label(), "5.0 inflight", "5.0 unschedulable ScheduleAttemptFailure"},
		"nothing that is known":    nil,
	} {
		var w world.Cluster
		w.Add(0.5, &sources.Injected{What: what, Pod: world.Key("web")}) // before anybody is there
		world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
		world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
		w.Add(5, &sources.Injected{What: what, Pod: world.Key("web")})
		expect(t, fmt.Sprintf("%q", what), reruns(t, w.Recording(10), "web")[3:], want)
	}
}

// TestRerunPassesQuietTime: a rerun plays all of a time in which nothing is told. Of one that is longer than a day it plays the first
// hour and the last day: there is nothing but the same flushes between.
func TestRerunPassesQuietTime(t *testing.T) {
	quiet := func(seconds float64) (moves []string) {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
		world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
		world.Change(&w, seconds, sources.Added, world.Node("node-b", "8"), nil)
		return reruns(t, w.Recording(seconds+10), "web")[3:]
	}
	tried := func(at string) []string {
		return []string{at + " inflight", at + " unschedulable ScheduleAttemptFailure"}
	}
	bound := func(at string) []string {
		return []string{at + " active NodeAdd", at + " inflight", at + " scheduled  node-b", at + " deleted"}
	}
	flushed := append([]string{"331.0 active UnschedulableTimeout"}, tried("331.0")...)
	expect(t, "in 400 s", quiet(400), append(flushed, bound("400.0")...))
	moves := quiet(100_000)
	expect(t, "in a day and more, at first", moves[:3], flushed)
	expect(t, "and at last", moves[len(moves)-4:], bound("100000.0"))
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

// TestNoSchedulerCanBeSetUp: a configuration with which none starts is told, and what happened is shown without a queue.
func TestNoSchedulerCanBeSetUp(t *testing.T) {
	cfg := world.Config(t)
	cfg.Profiles[0].SchedulerName = ""
	for name, begins := range map[string]sources.Fact{"from the beginning": nil, "a scheduler that starts": &sources.SchedulerStarted{}, "a scheduler at work": &sources.Attached{Nodes: true}} {
		for _, rerun := range []bool{false, true} {
			var w world.Cluster
			world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
			if begins != nil {
				w.Add(1.5, begins)
			}
			world.Change(&w, 2, sources.Added, world.PendingPod("web", "1"), nil)
			rec := w.Recording(3)
			rec.Rerun = rerun
			f := shadow.NewFeed(rec, cfg)
			told := 0
			for ; f.HasEvent(told); told++ {
			}
			if _, attached := begins.(*sources.Attached); f.Err == nil && !(rerun && attached) || told < len(w.Events)-1 {
				t.Errorf("%s, rerun %t: %v, %d events", name, rerun, f.Err, told)
			}
			f.Close()
		}
	}
	f := shadow.NewLiveFeed(cfg)
	f.Arrive([]sources.Event{{Time: world.At(1), Fact: &sources.Attached{Nodes: true}}}, world.At(2), sources.Status{})
	if f.HasEvent(0); f.Err == nil {
		t.Error("live: nothing is told")
	}
}

// TestRerunNamesTheRelease: a rerun under another release says so, and one of a rerun is that.
func TestRerunNamesTheRelease(t *testing.T) {
	rec := world.WithVictim("1")
	again, err := shadow.Rerun(rec, "v1.30")
	if err != nil || again.Name != rec.Name+" under v1.30" || !again.Rerun || rec.Rerun || len(again.Notices) != len(rec.Notices)+1 {
		t.Errorf("%v, %+v", err, again)
	}
	if plain, err := shadow.Rerun(rec, ""); err != nil || plain.Name != rec.Name {
		t.Errorf("%v, without a release it is named %s", err, plain.Name)
	}
	if third, err := shadow.Rerun(again, "v1.29"); err != nil || third != again {
		t.Errorf("%v, a rerun is rerun: %+v", err, third)
	}
	if _, err := shadow.Rerun(world.RecordingOf(world.Move(1, "web", sources.TierActive, "")), ""); err == nil || !strings.Contains(err.Error(), "holds no pods' objects") {
		t.Errorf("over a log of moves: %v", err)
	}
}

// TestLongRecording: one that is read again and again is played as one that is kept, and one that can't be read to its end says so.
func TestLongRecording(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, c := range []struct {
		name  string
		fails int // after so many events; 0: not at all
		log   bool
	}{{"of objects", 0, false}, {"that breaks off", 4, false}, {"of moves", 0, true}, {"of moves, that breaks off", 1, true}} {
		t.Run(c.name, func(t *testing.T) {
			var w world.Cluster
			if c.log {
				w.Events = world.RecordingOf(world.Move(1, "web", sources.TierActive, ""), world.Move(2, "web", sources.TierInFlight, "")).Events
			} else {
				world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
				w.AddStuck(2, "web")
			}
			kept := w.Recording(5)
			closed := 0
			long := &sources.Recording{Name: "long", End: kept.End, Reread: func(context.Context) iter.Seq2[sources.Event, error] {
				return func(yield func(sources.Event, error) bool) {
					defer func() { closed++ }()
					for i, ev := range kept.Events {
						if c.fails > 0 && i == c.fails {
							yield(sources.Event{}, broken)
							return
						}
						if !yield(ev, nil) {
							return
						}
					}
				}
			}, Events: kept.Events}
			count := func(rec *sources.Recording) (n int, err error) {
				f := shadow.NewFeed(rec, world.Config(t))
				defer f.Close()
				for ; f.HasEvent(n); n++ {
				}
				return n, f.Err
			}
			want, err := count(kept)
			if err != nil {
				t.Fatal(err)
			}
			got, err := count(long)
			if c.fails == 0 && (got != want || err != nil) || c.fails > 0 && (!errors.Is(err, broken) || got >= want) {
				t.Errorf("%d events are told, %v, want %d", got, err, want)
			}
			if closed != 1 {
				t.Errorf("of one reading, %d have ended", closed)
			}
			f := shadow.NewFeed(long, world.Config(t))
			f.HasEvent(0)
			if f.Close(); closed != 2 {
				t.Errorf("a feed that is closed early reads on: %d of two have ended", closed)
			}
		})
	}
}

// TestRerunLeavesOut: of a pod's changes a rerun leaves out what the recorded scheduler did, and what the API server did as it bound
// the pod: its node, its condition, its phase, and the labels of its node. What is its own stays.
func TestRerunLeavesOut(t *testing.T) {
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
		t.Errorf("the recording's pod has become %+v", web)
	}
	if others != 2 {
		t.Errorf("of the mark and of the scheduler that starts, %d are told on", others)
	}
}

// TestRerunAsync: a loop that does not wait for the answers to its patches takes the next pod at once, and its patches are written.
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
			t.Errorf("async %t: tried at %v, written are %v", async, tried, written)
		}
	}
}
