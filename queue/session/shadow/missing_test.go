package shadow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

const (
	arrival             = " >active UnscheduledPodAdd modelled"
	popped              = " active>inflight modelled"
	failed              = " inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled"
	woken               = " unschedulable>backoff AssignedPodDelete NodeResourcesFit modelled"
	poppedFromBackoff   = " backoff>inflight NodeResourcesFit modelled"
	returned            = " backoff>unschedulable NodeResourcesFit modelled"
	poppedUnschedulable = " unschedulable>inflight NodeResourcesFit modelled"
)

// TestObservableAttempts: the first two failures of an unchanged pod are observable, so an attempt that is
// not observed was not made. Later ones are not observable, so the model makes them.
func TestObservableAttempts(t *testing.T) {
	var c world.Cluster
	first := c.Small()
	second, third := c.AddSmall(1), c.AddSmall(1)
	web := c.AddStuck(2, "web")
	c.Delete(3, first) // no attempt follows
	c.Recorded(6.001, web, 1)
	c.Delete(8, second)
	c.Recorded(8.2, web, 2)
	c.Delete(11, third) // from here on its attempts are not observable
	err := timeline.Replay(t.Context(), c.Recording(20), timeline.Options{}, func(m *board.Transition) error {
		if returns := m.From == queue.Backoff && m.To == queue.Unschedulable; m.TakenBack() != returns {
			t.Errorf("%s → %s %s: TakenBack is wrong", m.From, m.To, m.Event)
		} else if returns && !strings.HasPrefix(new(session.Frame).Why(m)[0], "No attempt followed") {
			t.Error(new(session.Frame).Why(m))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	replayed.Compare(t, replayed.Moves(t, c.Recording(20), "web"), []string{
		"2" + arrival, "2" + popped, "2" + failed,
		"3" + woken, "3" + returned, "6" + poppedUnschedulable, "6" + failed,
		"8" + woken, "8" + poppedFromBackoff, "8" + failed,
		"11" + woken, "11" + poppedFromBackoff, "11" + failed,
	})
}

// TestObservableAttemptsInOrder: a pod whose attempt is observed later is popped later, although it is
// first in activeQ.
func TestObservableAttemptsInOrder(t *testing.T) {
	var c world.Cluster
	small := c.Small()
	web, db := c.AddStuck(2, "web"), c.AddStuck(2.5, "db") // web is first in activeQ
	c.Delete(4, small)
	c.Recorded(4.1, db, 1)
	c.Recorded(4.3, web, 1)
	checkPops(t, c.Recording(20), 4, "db 4.10", "web 4.30")
}

// checkPops compares which pods are popped after that second, and when.
func checkPops(t *testing.T, rec *sources.Recording, after float64, want ...string) {
	t.Helper()
	var got []string
	err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
		if m.To == queue.InFlight && m.Time.After(world.At(after)) {
			got = append(got, fmt.Sprintf("%s %.2f", m.Pod.Key.Name, m.Time.Sub(world.At(0)).Seconds()))
		}
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("popped are %v, %v, want %v", got, err, want)
	}
}

// TestLoopWasBlocked: the attempt of the first pod in activeQ is observed late, and no event can have
// woken it in between. So the loop was blocked, and popped no other pod either.
func TestLoopWasBlocked(t *testing.T) {
	var c world.Cluster
	small := c.Small()
	web, db := c.AddStuck(2, "web"), c.AddStuck(2.5, "db") // web is first in activeQ
	c.Recorded(3, db, 2)                                   // its later attempts are not observable
	c.Delete(10, small)
	c.Recorded(10.09, web, 1)
	checkPops(t, c.Recording(10.2), 4, "web 10.09", "db 10.09")
}

// TestUnobservableAttempts: the model makes attempts without evidence if the pod is older than the source,
// or if the source contains no Events.
func TestUnobservableAttempts(t *testing.T) {
	for _, c := range []struct {
		name  string
		stuck func(c *world.Cluster) *v1.Pod
	}{
		{"older pod", func(c *world.Cluster) *v1.Pod {
			c.AddStuck(1.5, "other")
			pod := world.Change(c, 2, sources.Added, world.PendingPod("web", "4"), nil)
			return c.Patched(2.01, pod, world.TooSmall, "")
		}},
		{"no Events", func(c *world.Cluster) *v1.Pod {
			pod := world.PendingPod("web", "4")
			pod.CreationTimestamp = metav1.NewTime(world.At(2))
			pod = world.Change(c, 2, sources.Added, pod, nil)
			return c.Patched(2.01, pod, world.TooSmall, "")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r world.Cluster
			small := r.Small()
			c.stuck(&r)
			r.Delete(3, small)
			replayed.Compare(t, replayed.Moves(t, r.Recording(20), "web"), []string{
				"2" + arrival, "2" + popped, "2" + failed, "3" + woken, "3" + poppedFromBackoff, "3" + failed,
			})
		})
	}
}

// watchGap returns the status of a stream whose watch of resource has a gap. until is 0 if it does not
// end.
func watchGap(resource string, since, until float64) func(float64) sources.Status {
	return func(now float64) sources.Status {
		r := sources.Resource{Name: resource, State: sources.ResourceWatched}
		if resource != "" && now >= since {
			r.Gap.Since = world.At(since)
			if until != 0 && now >= until {
				r.Gap.Until = world.At(until)
			}
		}
		return sources.Status{Resources: []sources.Resource{r}}
	}
}

// addWatchGap records a gap of a watch.
func addWatchGap(w *world.Cluster, resource string, since, until float64) {
	w.Add(since, &sources.WatchGap{Resource: resource, Gap: sources.Gap{Since: world.At(since)}})
	w.Add(until, &sources.WatchGap{Resource: resource, Gap: sources.Gap{Since: world.At(since), Until: world.At(until)}})
}

// recordedFeed plays the recording that `schedq record` would write of the session of liveFeed.
func recordedFeed(t *testing.T, cfg *schedulerconfig.Config, c *world.Cluster, seconds float64, status func(seconds float64) sources.Status) *shadow.Feed {
	t.Helper()
	var gaps sources.GapTracker
	rec := c.Recording(seconds)
	rec.Events = slices.Clone(rec.Events)
	for at := 0.0; at <= seconds; at += 0.25 {
		rec.Events = append(rec.Events, gaps.Update(world.At(at), status(at))...)
	}
	slices.SortStableFunc(rec.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	f := shadow.NewFeed(rec, cfg)
	t.Cleanup(f.Close)
	for i := 0; f.HasEvent(i); i++ {
	}
	return f
}

// feeds are the two ways in which a watch gap reaches the model: live, and from a recording.
var feeds = []struct {
	name string
	feed func(*testing.T, *schedulerconfig.Config, *world.Cluster, float64, func(float64) sources.Status) *shadow.Feed
}{{"live", liveFeed}, {"recorded", recordedFeed}}

// addTaintedNode adds a node that is large enough for a stuck pod, but tainted: the pod is woken and
// fails again.
func addTaintedNode(w *world.Cluster, seconds float64) {
	node := world.Node("node-b", "8")
	node.Spec.Taints = []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoSchedule}}
	world.Change(w, seconds, sources.Added, node, nil)
}

// TestAttemptDuringWatchGap: a failed pod is woken, and no attempt is observed. If all watches that would
// show one deliver, none was made. If the watch of Events or of pods has a gap, even a short one, the
// model makes the attempt.
func TestAttemptDuringWatchGap(t *testing.T) {
	untried, tries := []string{"2 web"}, []string{"2 web", "10 web"}
	for _, c := range []struct {
		watch        string
		since, until float64
		want         []string
	}{
		{"", 0, 0, untried},
		{"events", 5, 0, tries},
		{"pods", 5, 0, tries},
		{"events", 9.9, 10.3, tries},
		{"pods", 9.9, 10.3, tries},
		{"events", 10.05, 0, tries}, // the Event follows the attempt
		{"events", 5, 9, untried},
		{"storageclasses", 5, 0, untried},
		{"leases", 5, 0, untried},
	} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "2"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		w.AddStuck(2, "web")
		addTaintedNode(&w, 10)
		for _, via := range feeds {
			tried, _ := popsAndSilences(via.feed(t, world.Config(t), &w, 13, watchGap(c.watch, c.since, c.until)))
			expect(t, fmt.Sprintf("%s, %s from %v to %v: tried", via.name, c.watch, c.since, c.until), tried, c.want)
		}
	}
}

// TestFirstAttemptDuringWatchGap: the watch of pods alone shows a pod's first attempt, whatever its
// outcome. So its absence proves that no scheduler is running, unless that watch has a gap.
func TestFirstAttemptDuringWatchGap(t *testing.T) {
	for watch, want := range map[string][2][]string{
		"events": {nil, {"17 silent since 1 "}},
		"pods":   {{"2 web"}, nil},
	} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "2"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
		for _, via := range feeds {
			tried, silences := popsAndSilences(via.feed(t, world.Config(t), &w, 30, watchGap(watch, 2.05, 0)))
			expect(t, via.name+", "+watch+": tried", tried, want[0])
			expect(t, via.name+", "+watch+": silences", silences, want[1])
		}
	}
}

// feedMoves returns the pod's moves in f.
func feedMoves(f *shadow.Feed, pod string) (moves []string) {
	for _, ev := range f.Events {
		if m, ok := ev.Fact.(*shadow.Move); ok && m.Pod.Name == pod {
			moves = append(moves, fmt.Sprintf("%.1f %s", ev.Time.Sub(world.At(0)).Seconds(), m.To))
		}
	}
	return moves
}

// TestBindingDuringWatchGap: a pod is assigned during a gap in the pods' watch. It stays in flight until
// the gap ends, which shows whether it was bound.
func TestBindingDuringWatchGap(t *testing.T) {
	for _, binds := range []bool{true, false} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "2"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		web := world.Change(&w, 5, sources.Added, world.PendingPod("web", "1"), nil)
		want := []string{"5.0 active", "5.0 inflight", "22.5 unschedulable"}
		if binds {
			w.Bound(20, web, "node-a")
			want = []string{"5.0 active", "5.0 inflight", "20.0 scheduled", "20.0 deleted"}
		}
		for _, via := range feeds {
			got := feedMoves(via.feed(t, world.Config(t), &w, 26, watchGap("pods", 5.05, 20)), "web")
			if !binds && len(got) == 3 { // some seconds after the gap
				if at := got[2]; at <= "20.5 " || at >= "23" {
					t.Errorf("%s: moves are %v", via.name, got)
				}
				want[2] = got[2]
			}
			expect(t, fmt.Sprintf("%s, bound %t", via.name, binds), got, want)
		}
	}
}

// TestPatchDuringWatchGap: a list after a gap shows a pod's patched condition. It belongs to the attempt
// that the model made during the gap, and is not another attempt.
func TestPatchDuringWatchGap(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "2"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	web := w.AddStuck(2, "web")
	addTaintedNode(&w, 10)
	w.Patched(20, web, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).", "")
	for _, via := range feeds {
		f := via.feed(t, world.Config(t), &w, 23, watchGap("pods", 5, 20))
		if got, want := feedMoves(f, "web"), []string{"2.0 active", "2.0 inflight", "2.0 unschedulable", "10.0 active", "10.0 inflight", "10.0 unschedulable"}; !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%s: moves are %v, want %v", via.name, got, want)
		}
	}
}

// TestWatchGapProvesNoRateLimit: requests and Events that a list shows after a watch gap may have been sent at
// any time during the gap. They do not show that the scheduler's requests or Events are rate-limited.
func TestWatchGapProvesNoRateLimit(t *testing.T) {
	for _, c := range []struct {
		watch      string // "" is all watches
		attempt    string // of web, which fails at 21.496
		backlogged bool   // the feed waits for Events
	}{
		{sources.PodsWatch, "21.496 web inflight (failure)", true},
		{sources.EventsWatch, "21.500 web inflight (behind)", false},
		{"", "21.496 web inflight (failure)", false},
	} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		w.AddStuck(1.1, "other") // its patch shows that the source contains the scheduler's requests
		f := shadow.NewLiveFeed(world.Config(t))
		t.Cleanup(f.Close)
		f.Arrive(w.Events, world.At(4), sources.Status{})
		status := sources.Status{Resources: []sources.Resource{{Name: c.watch, Gap: sources.Gap{Since: world.At(5), Until: world.At(20)}}}}
		w.Events = nil
		w.Add(6, &sources.FailedAttempt{Pod: world.Key("web"), UID: "web"})
		for i := range 200 {
			w.Bound(20+0.0001*float64(i), addPod(&w, 20+0.0001*float64(i), fmt.Sprint("bound-", i), "1m", nil), "node-a")
		}
		f.Arrive(w.Events, world.At(20.1), status)
		if backlogged := f.End.Before(world.At(19.6)); backlogged != c.backlogged {
			t.Errorf("gap of %q: the feed ends at %v", c.watch, f.End)
		}
		w.Events = nil
		w.Patched(21.5, addPod(&w, 20.2, "web", "8", nil), world.TooSmall, "")
		f.Arrive(w.Events, world.At(22), status)
		f.Arrive(nil, world.At(30), status)
		drain(f)
		if got := traceFeed(f, 20.3, false); !strings.HasPrefix(got, c.attempt) {
			t.Errorf("gap of %q: the trace is %s, want %s", c.watch, got, c.attempt)
		}
	}
}
