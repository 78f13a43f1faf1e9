package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestRerunDecides: a rerun ignores that the recorded scheduler was slow and chose the worse node.
func TestRerunDecides(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 0, sources.Added, world.Node("small", "1"), nil)
	world.Change(&c, 0, sources.Added, world.Node("large", "8"), nil)
	pod := world.Change(&c, 1, sources.Added, world.PendingPod("web", "500m"), nil)
	pod = c.Patched(2, pod, "0/2 nodes are available: 2 too many pods.", "")
	pod = c.Bound(9, pod, "small")
	pod.Labels = map[string]string{v1.LabelTopologyZone: "zone-of-small"} // as the API server does
	pod = world.Change(&c, 10, sources.Updated, pod, func(p *v1.Pod) { p.Status.Phase = v1.PodRunning })
	world.Change(&c, 20, sources.Deleted, pod, nil)
	rec := replayed.Rerun(t, c.Recording(30))
	replayed.Compare(t, replayed.Moves(t, rec, "web"), []string{
		"1 >active UnscheduledPodAdd modelled",
		"1 active>inflight modelled",
		"1 inflight>scheduled modelled",
	})
	if got := replayed.BoundTo(t, rec, "web"); got != "large" {
		t.Errorf("web is bound to %s, want large", got)
	}
}

// TestRerunSparesVictims: the victim of the recorded scheduler survives if there is room elsewhere.
func TestRerunSparesVictims(t *testing.T) {
	for _, c := range []struct {
		name, room, node string
	}{
		{"room", "4", "other"},
		{"no room", "1", "full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := replayed.Rerun(t, world.WithVictim(c.room))
			if got := replayed.BoundTo(t, rec, "high"); got != c.node {
				t.Errorf("high is bound to %q, want %s", got, c.node)
			}
		})
	}
}

// TestRerunVictimStaysGone: what the recording shows later of a pod that the rerun preempts does not bring it back.
func TestRerunVictimStaysGone(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 0, sources.Added, world.Node("full", "2"), nil)
	low := world.Change(&c, 1, sources.Added, world.PendingPod("low", "1500m"), func(p *v1.Pod) { p.Spec.NodeName, p.Spec.Priority = "full", new(int32) })
	world.Change(&c, 6, sources.Added, world.PendingPod("high", "1500m"), func(p *v1.Pod) {
		p.Spec.Priority = new(int32)
		*p.Spec.Priority = 100
	})
	low = world.Change(&c, 15, sources.Updated, low, func(p *v1.Pod) { p.Labels = map[string]string{"version": "2"} })
	world.Change(&c, 20, sources.Deleted, low, nil)
	rec := replayed.Rerun(t, c.Recording(30))
	var changes []sources.Verb
	_, err := timeline.ReplayWith(t.Context(), rec, timeline.Options{}, timeline.ReplayHandlers{Move: func(*board.Transition) error { return nil }, Object: func(ev sources.Event) {
		change := ev.Fact.(*sources.ObjectChange)
		if pod, is := change.Object.(*v1.Pod); is && pod.Name == "low" {
			changes = append(changes, change.Verb)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []sources.Verb{sources.Added, sources.Updated, sources.Deleted}; !slices.Equal(changes, want) {
		t.Errorf("low is %v, want %v", changes, want)
	}
}

// TestCompare: a pod that a new node would help backs off in v1.32; in v1.33 an idle scheduler pops it.
func TestCompare(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 0, sources.Added, world.Node("full", "1"), nil)
	world.Change(&c, 1, sources.Added, world.PendingPod("web", "2"), nil)
	world.Change(&c, 1.1, sources.Added, world.Node("new", "4"), nil)
	got, err := Compare(t.Context(), c.Recording(30), timeline.Options{Release: "v1.33"}, timeline.Options{Release: "v1.32"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Pods) != 1 || got.Pods[0].Pod != "default/web" {
		t.Fatalf("pods with different outcomes: %+v", got.Pods)
	}
	web := got.Pods[0]
	if web.From.Attempts != 2 || web.To.Attempts != 2 || web.From.Tier != "scheduled" || web.To.Tier != "scheduled" {
		t.Errorf("web took %+v and %+v", web.From, web.To)
	}
	if later := web.later().Seconds(); later < 0.8 || later > 2 {
		t.Errorf("web waited %.2f s longer, want about one", later)
	}
	if d := got.First; d == nil || d.Event != "BackoffComplete" && d.To != "inflight" {
		t.Errorf("the first difference is %+v", d)
	}
	if got.Same == 0 || got.Same >= got.To.Moves {
		t.Errorf("%d moves of %d are the same", got.Same, got.To.Moves)
	}
}

// TestCompareSame: the same release gives the same result.
func TestCompareSame(t *testing.T) {
	got, err := Compare(t.Context(), world.WithVictim("1"), timeline.Options{Release: "v1.35"}, timeline.Options{Release: "v1.35"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Pods) != 0 || got.First != nil || got.Same != got.From.Moves || got.Same == 0 {
		t.Errorf("%+v", got)
	}
}

// TestCompareRenamed: moves are the same if their events are, whatever each release calls them.
func TestCompareRenamed(t *testing.T) {
	var c world.Cluster
	node := world.Change(&c, 0, sources.Added, world.Node("node-a", "1"), func(n *v1.Node) {
		n.Spec.Taints = []v1.Taint{{Key: "dedicated", Effect: v1.TaintEffectNoSchedule}}
	})
	world.Change(&c, 1, sources.Added, world.PendingPod("web", "500m"), nil)
	world.Change(&c, 6, sources.Updated, node, func(n *v1.Node) { n.Spec.Taints = nil })
	rec := c.Recording(30)
	for _, release := range []string{"v1.36", "v1.31", "v1.24"} {
		got, err := Compare(t.Context(), rec, timeline.Options{Release: "v1.37"}, timeline.Options{Release: release})
		if err != nil {
			t.Fatal(err)
		}
		if got.First != nil || got.Same != got.From.Moves || got.Same != got.To.Moves || got.Same < 5 {
			t.Errorf("under %s %d of %d moves are the same as v1.37's, the first other one is %+v", release, got.Same, got.To.Moves, got.First)
		}
		want := "NodeUpdateNodeTaint (NodeTaintChange)"
		if release == "v1.36" {
			want = "NodeUpdateNodeTaint"
		}
		if w := got.Wakes(); len(w) != 1 || w[0].Event != want || w[0].From != 1 || w[0].To != 1 {
			t.Errorf("under %s the pod is woken by %+v, want one row %s", release, w, want)
		}
	}
}

func TestRerunNeedsObjects(t *testing.T) {
	rec := world.RecordingOf(world.Move(1, "web", "active", "UnscheduledPodAdd"))
	rec.Name = "sched.log"
	_, err := shadow.Rerun(rec, "")
	if err == nil || !strings.Contains(err.Error(), "sched.log holds no pods' objects") {
		t.Errorf("got %v", err)
	}
	if _, err := Compare(t.Context(), rec, timeline.Options{}, timeline.Options{Release: "v1.99"}); err == nil {
		t.Error("a release that is not there is taken")
	}
}

// TestRerunQuietTimes: pods that arrive before a skipped quiet time are tried on arrival.
func TestRerunQuietTimes(t *testing.T) {
	for _, days := range []float64{0.9, 1.01, 1.5, 20} {
		var c world.Cluster
		world.Change(&c, 0, sources.Added, world.PendingPod("a", "1"), nil)
		world.Change(&c, days*86400, sources.Added, world.PendingPod("b", "1"), nil)
		rec := c.Recording(days*86400 + 60)
		rec.Rerun = true
		r, err := Summarize(t.Context(), rec, timeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tier := range r.Tiers {
			if tier.Tier == "active" && (tier.Stays == 0 || time.Duration(tier.Max) > time.Second) {
				t.Errorf("after %g quiet days, a pod waited in active for %s", days, time.Duration(tier.Max))
			}
		}
	}
}
