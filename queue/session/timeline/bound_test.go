package timeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
)

// TestPodLeavesQueue: a pod with a node is bound, in whichever order the scheduler logs its binding and the delete handler's
// line. A pod that is deleted in flight stays in flight until its attempt ends.
func TestPodLeavesQueue(t *testing.T) {
	const (
		popped  = "in flight"
		bound   = "Successfully bound pod to node"
		again   = "a late update adds it"
		handler = "Delete event for unscheduled pod"
		failed  = "Pod doesn't exist in informer cache"
		placed  = "the API server has its node"
		gone    = "the API server deleted it"
	)
	for _, c := range []struct {
		events []string
		want   string
	}{
		{[]string{popped, bound, handler}, "inflight scheduled"},
		{[]string{popped, handler, bound}, "inflight scheduled"},
		{[]string{popped, placed, handler, bound}, "inflight scheduled"},
		{[]string{popped, handler, placed, bound}, "inflight scheduled"},
		{[]string{popped, placed, handler}, "inflight scheduled"}, // the binding's line is missing
		{[]string{popped, bound, handler, gone}, "inflight scheduled"},
		{[]string{popped, handler}, "inflight"}, // whether bound or deleted is unknown
		{[]string{popped, handler, failed}, "inflight deleted"},
		{[]string{popped, gone, handler, failed}, "inflight deleted"},
		{[]string{popped, placed, bound, again, handler}, "inflight scheduled active scheduled"},
		{[]string{handler}, "deleted"},
		{[]string{handler, bound}, "deleted scheduled"}, // the log begins during the attempt
	} {
		t.Run(strings.Join(c.events, ", "), func(t *testing.T) {
			pod := &v1.Pod{}
			pod.Namespace, pod.Name, pod.UID = "default", "web", "1"
			pod.Spec.SchedulerName = v1.DefaultSchedulerName
			rec := &sources.Recording{}
			add := func(f sources.Fact) {
				at := time.Date(2026, 11, 22, 10, 0, len(rec.Events), 0, time.UTC)
				rec.Events = append(rec.Events, sources.Event{Time: at, Fact: f})
			}
			key := types.NamespacedName{Namespace: "default", Name: "web"}
			if slices.Contains(c.events, placed) || slices.Contains(c.events, gone) {
				add(&sources.ObjectChange{Verb: sources.Added, Object: pod.DeepCopy()})
			}
			for _, event := range c.events {
				switch event {
				case popped:
					add(&sources.Move{Pod: key, To: sources.TierInFlight})
				case bound:
					add(&sources.Move{Pod: key, To: sources.TierScheduled, Node: "node-a"})
				case again:
					add(&sources.Move{Pod: key, To: sources.TierActive, Event: "UnscheduledPodAdd"})
				case handler:
					add(&sources.Move{Pod: key, To: sources.TierDeleted})
				case failed:
					add(&sources.Move{Pod: key, To: sources.TierDeleted, Event: queue.ScheduleAttemptFailure})
				case placed:
					pod = pod.DeepCopy()
					pod.Spec.NodeName = "node-a"
					add(&sources.ObjectChange{Verb: sources.Updated, Object: pod})
				case gone:
					add(&sources.ObjectChange{Verb: sources.Deleted, Object: pod})
				}
			}
			var tiers []string
			err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
				tiers = append(tiers, m.To.String())
				if m.To == queue.Scheduled && m.Pod.Node != "node-a" {
					t.Errorf("bound to %q", m.Pod.Node)
				}
				return nil
			})
			if got := strings.Join(tiers, " "); err != nil || got != c.want {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

// TestBoundPodsAreNotDeleted: in the embedded recordings and those in SCHEDQ_RECORDINGS, the pods that end as deleted are
// those that the API server deleted before they had a node.
func TestBoundPodsAreNotDeleted(t *testing.T) {
	for _, info := range embedded.All() {
		t.Run(info.Name, func(t *testing.T) {
			rec, err := embedded.Open(t.Context(), info.Name)
			checkDeleted(t, rec, err)
		})
	}
	dirs, _ := filepath.Glob(filepath.Join(os.Getenv("SCHEDQ_RECORDINGS"), "*", "truth.jsonl.gz"))
	for _, truth := range dirs {
		dir := filepath.Dir(truth)
		audit, log := filepath.Join(dir, "audit.log.gz"), filepath.Join(dir, "sched.log.gz")
		t.Run(filepath.Base(dir), func(t *testing.T) {
			rec, err := files.Open(t.Context(), []string{audit, log}, files.Options{})
			checkDeleted(t, rec, err)
		})
		t.Run(filepath.Base(dir)+", audit log alone", func(t *testing.T) {
			rec, err := files.Open(t.Context(), []string{audit}, files.Options{})
			checkDeleted(t, rec, err)
		})
	}
}

// checkDeleted replays rec and compares the pods that end as Deleted with its objects.
func checkDeleted(t *testing.T, rec *sources.Recording, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	want := map[types.NamespacedName]bool{} // whether the last pod with the name was deleted without a node
	node := map[types.UID]string{}
	for _, e := range rec.Events {
		c, ok := e.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		if pod, ok := c.Object.(*v1.Pod); ok {
			key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
			if pod.Spec.NodeName != "" {
				node[pod.UID] = pod.Spec.NodeName
			}
			want[key] = c.Verb == sources.Deleted && node[pod.UID] == ""
		}
	}
	last := map[types.NamespacedName]queue.Tier{}
	if err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
		if m.From == queue.Scheduled && m.To == queue.Deleted {
			t.Errorf("%s was bound and then deleted", m.Pod.Key)
		}
		last[m.Pod.Key] = m.To
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	deleted := 0
	for key, tier := range last {
		if tier == queue.Deleted {
			deleted++
		}
		if (tier == queue.Deleted) != want[key] {
			t.Errorf("%s ends as %s; deleted before it was bound: %t", key, tier, want[key])
		}
	}
	t.Logf("%d of %d pods were deleted", deleted, len(last))
}
