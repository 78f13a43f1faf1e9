package shadow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
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

// TestRecorder: the first and the second failed attempt of a pod that stays as it is are seen, and so there
// was none that is not. Those that follow are not seen, and are modelled.
func TestObservableAttempts(t *testing.T) {
	var c world.Cluster
	first := c.Small()
	second, third := c.AddSmall(1), c.AddSmall(1)
	web := c.AddStuck(2, "web")
	c.Delete(3, first) // the loop is not seen to take web for this, nor for what follows
	c.Recorded(6.001, web, 1)
	c.Delete(8, second)
	c.Recorded(8.2, web, 2)
	c.Delete(11, third) // from here on its attempts are not seen
	err := timeline.Replay(t.Context(), c.Recording(20), timeline.Options{}, func(m *board.Transition) error {
		if asleep := m.From == queue.Backoff && m.To == queue.Unschedulable; m.TakenBack() != asleep {
			t.Errorf("%s → %s %s: TakenBack is wrong", m.From, m.To, m.Event)
		} else if asleep && !strings.HasPrefix(new(session.Frame).Why(m)[0], "No attempt followed") {
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

// TestRecorderOfAnother: the loop takes others before a pod whose attempt is yet to be seen.
func TestObservableAttemptsInOrder(t *testing.T) {
	var c world.Cluster
	small := c.Small()
	web, db := c.AddStuck(2, "web"), c.AddStuck(2.5, "db") // so web is the first in activeQ
	c.Delete(4, small)
	c.Recorded(4.1, db, 1)
	c.Recorded(4.3, web, 1)
	checkPops(t, c.Recording(20), 4, "db 4.10", "web 4.30")
}

// taken compares when the loop takes which pod after so many seconds.
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
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestLoopWaitsUntold: where it is not told when the patch was sent, the loop waits for as long as requests take at
// the least. The model had not woken the pod that is patched.
func TestLoopWaitsWithoutSendTime(t *testing.T) {
	var c world.Cluster
	small := c.Small()
	web := c.AddStuck(2, "web")
	c.Recorded(3, web, 2)
	picky := world.Change(&c, 4, sources.Added, world.PendingPod("picky", "1"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	picky = c.Patched(4.01, picky, "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.", "")
	c.Delete(10, small)
	world.Change(&c, 10.0035, sources.Updated, picky, func(p *v1.Pod) { world.Reject(p, world.TooSmall, "") })
	c.Add(10.0035, &sources.StatusPatched{Pod: world.Key("picky"), UID: picky.UID})
	var popped []float64
	err := timeline.Replay(t.Context(), c.Recording(11), timeline.Options{}, func(m *board.Transition) error {
		if m.To == queue.InFlight && m.Pod.Key.Name == "web" && m.Time.After(world.At(10)) {
			popped = append(popped, m.Time.Sub(world.At(10)).Seconds())
		}
		return nil
	})
	if err != nil || len(popped) != 1 || popped[0] < 0.0035 || popped[0] > 0.005 {
		t.Errorf("%v, web is popped %v seconds later, want it after the patch", err, popped)
	}
}

// TestLoopHeldUp: where the first pod's attempt is seen late, and nothing can have woken the pod in between, the loop was
// held up, and took none behind it either.
func TestLoopWasBlocked(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(c *world.Cluster, other *v1.Pod)
		want    []string
	}{
		{"nothing", func(*world.Cluster, *v1.Pod) {}, []string{"web 10.09", "db 10.09"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r world.Cluster
			small := r.Small()
			other := r.AddSmall(1)
			web, db := r.AddStuck(2, "web"), r.AddStuck(2.5, "db") // so web is the first in activeQ
			r.Recorded(3, db, 2)                                   // what follows of it is not seen
			r.Delete(10, small)
			c.between(&r, other)
			r.Recorded(10.09, web, 1)
			checkPops(t, r.Recording(10.2), 4, c.want...)
		})
	}
}

// wantsVolume has a pod come, 3 s after the start, whose volume somebody has yet to provide.
func addPodWithVolume(c *world.Cluster) *v1.Pod {
	mode, class := storagev1.VolumeBindingWaitForFirstConsumer, "disk"
	world.Change(c, 2, sources.Added, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "disk.example.com", VolumeBindingMode: &mode}, nil)
	world.Change(c, 2, sources.Added, world.PendingClaim("data", class), nil)
	return world.Change(c, 3, sources.Added, world.PendingPod("store", "100m"), func(p *v1.Pod) {
		p.CreationTimestamp = metav1.NewTime(world.At(3))
		world.Mount(p, "data")
	})
}

// TestSlowVolume: a pod whose volume takes long to be provided is in flight until it is bound, or seen to fail.
func TestSlowVolume(t *testing.T) {
	for name, of := range map[string]struct {
		ends func(*world.Cluster, *v1.Pod)
		want []string
	}{
		"bound": {func(c *world.Cluster, pod *v1.Pod) { c.Bound(10, pod, "node-a") },
			[]string{"3" + arrival, "3" + popped, "10 inflight>scheduled observed"}},
		"not provided": {func(c *world.Cluster, pod *v1.Pod) { c.Failed(10, pod, "binding volumes: context deadline exceeded") },
			[]string{"3" + arrival, "3" + popped, "10 inflight>backoff ScheduleAttemptFailure modelled"}},
	} {
		t.Run(name, func(t *testing.T) {
			var c world.Cluster
			small := c.Small()
			c.AddStuck(1.5, "other")
			pod := addPodWithVolume(&c)
			c.Delete(5, small) // which wakes pods that wait
			of.ends(&c, pod)
			replayed.Compare(t, replayed.Moves(t, c.Recording(10.2), "store"), of.want)
		})
	}
}

// TestRecorderUnknown: of a pod that was there before the source, and of all where the source tells nothing of the
// recorder, no attempt is held back.
func TestUnobservableAttempts(t *testing.T) {
	for _, c := range []struct {
		name  string
		stuck func(c *world.Cluster) *v1.Pod
	}{
		{"a pod from before", func(c *world.Cluster) *v1.Pod {
			c.AddStuck(1.5, "other")
			pod := world.Change(c, 2, sources.Added, world.PendingPod("web", "4"), nil)
			return c.Patched(2.01, pod, world.TooSmall, "")
		}},
		{"no recorder", func(c *world.Cluster) *v1.Pod {
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

// broken returns how a stream stands of which one watch hears nothing from since on, until it is heard again. until is 0 if it
// never is.
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

// unheard has a watch hear nothing in that time.
func addWatchGap(w *world.Cluster, resource string, since, until float64) {
	w.Add(since, &sources.WatchGap{Resource: resource, Gap: sources.Gap{Since: world.At(since)}})
	w.Add(until, &sources.WatchGap{Resource: resource, Gap: sources.Gap{Since: world.At(since), Until: world.At(until)}})
}

// recorded is the feed of what a recorder writes of the session that played plays.
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

// ways are those in which what a watch did not hear comes to the model: while it lasts, and afterwards.
var feeds = []struct {
	name string
	feed func(*testing.T, *schedulerconfig.Config, *world.Cluster, float64, func(float64) sources.Status) *shadow.Feed
}{{"live", liveFeed}, {"recorded", recordedFeed}}

// wakes has a node come that has room for a stuck pod, and a taint: the pod is woken, and fails again.
func addTaintedNode(w *world.Cluster, seconds float64) {
	node := world.Node("node-b", "8")
	node.Spec.Taints = []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoSchedule}}
	world.Change(w, seconds, sources.Added, node, nil)
}

// TestUnheardAttempt: a pod that failed is woken, and no attempt of it is seen. Where all is heard that would show one, none was
// made. Where the watch is broken by which it would be seen to fail, or by which it would be seen to be bound, the model makes it
// by itself: also where the watch broke only for a moment.
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
		{"events", 10.05, 0, tries}, // its Event comes after it
		{"events", 5, 9, untried},
		{"storageclasses", 5, 0, untried},
		{"leases", 5, 0, untried},
	} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "2"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		w.AddStuck(2, "web")
		addTaintedNode(&w, 10)
		for _, way := range feeds {
			tried, _ := popsAndSilences(way.feed(t, world.Config(t), &w, 13, watchGap(c.watch, c.since, c.until)))
			expect(t, fmt.Sprintf("%s, %s from %v to %v: tried", way.name, c.watch, c.since, c.until), tried, c.want)
		}
	}
}

// TestUnheardFirstAttempt: a pod's first attempt shows by the pods' watch alone, whatever becomes of it. So without Events, too, it
// shows that no scheduler is there. Without pods that does not show.
func TestFirstAttemptDuringWatchGap(t *testing.T) {
	for watch, want := range map[string][2][]string{
		"events": {nil, {"17 silent since 1 "}},
		"pods":   {{"2 web"}, nil},
	} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "2"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
		for _, way := range feeds {
			tried, silences := popsAndSilences(way.feed(t, world.Config(t), &w, 30, watchGap(watch, 2.05, 0)))
			expect(t, way.name+", "+watch+": tried", tried, want[0])
			expect(t, way.name+", "+watch+": silences", silences, want[1])
		}
	}
}

// moves are those of a pod that f made.
func feedMoves(f *shadow.Feed, pod string) (moves []string) {
	for _, ev := range f.Events {
		if m, ok := ev.Fact.(*shadow.Move); ok && m.Pod.Name == pod {
			moves = append(moves, fmt.Sprintf("%.1f %s", ev.Time.Sub(world.At(0)).Seconds(), m.To))
		}
	}
	return moves
}

// TestUnheardBinding: a pod is placed while the pods are not heard. It stays in flight until they are, and is bound then, or was
// not.
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
		for _, way := range feeds {
			got := feedMoves(way.feed(t, world.Config(t), &w, 26, watchGap("pods", 5.05, 20)), "web")
			if !binds && len(got) == 3 { // some seconds after they are heard
				if at := got[2]; at <= "20.5 " || at >= "23" {
					t.Errorf("%s, it is given up: %v", way.name, got)
				}
				want[2] = got[2]
			}
			expect(t, fmt.Sprintf("%s, bound %t", way.name, binds), got, want)
		}
	}
}

// TestMissedPatch: what a list shows of a pod that was tried while the pods were not heard is that attempt, and no other one.
func TestPatchDuringWatchGap(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "2"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	web := w.AddStuck(2, "web")
	addTaintedNode(&w, 10)
	w.Patched(20, web, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).", "")
	for _, way := range feeds {
		f := way.feed(t, world.Config(t), &w, 23, watchGap("pods", 5, 20))
		if got, want := feedMoves(f, "web"), []string{"2.0 active", "2.0 inflight", "2.0 unschedulable", "10.0 active", "10.0 inflight", "10.0 unschedulable"}; !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%s, it moves %v, want %v", way.name, got, want)
		}
	}
}
