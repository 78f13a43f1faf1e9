package shadow_test

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// broken returns how a stream stands of which one watch hears nothing from since on, until it is heard again. until is 0 if it
// never is.
func broken(resource string, since, until float64) func(float64) sources.Status {
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
func unheard(w *world.Cluster, resource string, since, until float64) {
	w.Add(since, &sources.WatchGap{Resource: resource, Gap: sources.Gap{Since: world.At(since)}})
	w.Add(until, &sources.WatchGap{Resource: resource, Gap: sources.Gap{Since: world.At(since), Until: world.At(until)}})
}

// recorded is the feed of what a recorder writes of the session that played plays.
func recorded(t *testing.T, cfg *schedulerconfig.Config, c *world.Cluster, seconds float64, status func(seconds float64) sources.Status) *shadow.Feed {
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
var ways = []struct {
	name string
	feed func(*testing.T, *schedulerconfig.Config, *world.Cluster, float64, func(float64) sources.Status) *shadow.Feed
}{{"live", played}, {"recorded", recorded}}

// wakes has a node come that has room for a stuck pod, and a taint: the pod is woken, and fails again.
func wakes(w *world.Cluster, seconds float64) {
	node := world.Node("node-b", "8")
	node.Spec.Taints = []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoSchedule}}
	world.Change(w, seconds, sources.Added, node, nil)
}

// TestUnheardAttempt: a pod that failed is woken, and no attempt of it is seen. Where all is heard that would show one, none was
// made. Where the watch is broken by which it would be seen to fail, or by which it would be seen to be bound, the model makes it
// by itself: also where the watch broke only for a moment.
func TestUnheardAttempt(t *testing.T) {
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
		wakes(&w, 10)
		for _, way := range ways {
			tried, _ := shown(way.feed(t, world.Config(t), &w, 13, broken(c.watch, c.since, c.until)))
			expect(t, fmt.Sprintf("%s, %s from %v to %v: tried", way.name, c.watch, c.since, c.until), tried, c.want)
		}
	}
}

// TestUnheardFirstAttempt: a pod's first attempt shows by the pods' watch alone, whatever becomes of it. So without Events, too, it
// shows that no scheduler is there. Without pods that does not show.
func TestUnheardFirstAttempt(t *testing.T) {
	for watch, want := range map[string][2][]string{
		"events": {nil, {"17 silent since 1 "}},
		"pods":   {{"2 web"}, nil},
	} {
		var w world.Cluster
		world.Change(&w, 1, sources.Added, world.Node("node-a", "2"), nil)
		w.Add(1, &sources.Attached{Nodes: true})
		world.Change(&w, 2, sources.Added, world.PendingPod("web", "4"), nil)
		for _, way := range ways {
			tried, silences := shown(way.feed(t, world.Config(t), &w, 30, broken(watch, 2.05, 0)))
			expect(t, way.name+", "+watch+": tried", tried, want[0])
			expect(t, way.name+", "+watch+": silences", silences, want[1])
		}
	}
}

// moves are those of a pod that f made.
func moves(f *shadow.Feed, pod string) (moves []string) {
	for _, ev := range f.Events {
		if m, ok := ev.Fact.(*shadow.Move); ok && m.Pod.Name == pod {
			moves = append(moves, fmt.Sprintf("%.1f %s", ev.Time.Sub(world.At(0)).Seconds(), m.To))
		}
	}
	return moves
}

// TestUnheardBinding: a pod is placed while the pods are not heard. It stays in flight until they are, and is bound then, or was
// not.
func TestUnheardBinding(t *testing.T) {
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
		for _, way := range ways {
			got := moves(way.feed(t, world.Config(t), &w, 26, broken("pods", 5.05, 20)), "web")
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
func TestMissedPatch(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "2"), nil)
	w.Add(1, &sources.Attached{Nodes: true})
	web := w.AddStuck(2, "web")
	wakes(&w, 10)
	w.Patched(20, web, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).", "")
	for _, way := range ways {
		f := way.feed(t, world.Config(t), &w, 23, broken("pods", 5, 20))
		if got, want := moves(f, "web"), []string{"2.0 active", "2.0 inflight", "2.0 unschedulable", "10.0 active", "10.0 inflight", "10.0 unschedulable"}; !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%s, it moves %v, want %v", way.name, got, want)
		}
	}
}
