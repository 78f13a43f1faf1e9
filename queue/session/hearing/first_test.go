package hearing

import (
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/lineup"
	"github.com/schedq/schedq/queue/session/tried"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestMadeFirst: the change of node-a can be delivered from 10 on.
func TestMadeFirst(t *testing.T) {
	patched := func(w *world.Cluster, sent float64, pod, message string) {
		w.Patched(sent+0.003, world.PendingPod(pod, "1"), message+helps, "")
	}
	changes := func(w *world.Cluster, seconds float64, verb sources.Verb, node string, differs bool) {
		n := world.Node(node, "1")
		n.Spec.Unschedulable = !differs
		w.Add(seconds, &sources.ObjectChange{Verb: verb, Object: n})
	}
	for _, c := range []struct {
		name string
		of   func(w *world.Cluster)
		want []types.UID
		by   float64
	}{
		{"no patch", func(*world.Cluster) {}, nil, 0},
		{"as without it", func(w *world.Cluster) { patched(w, 10.01, "web", without) }, []types.UID{"web"}, 10.01},
		{"two as without it", func(w *world.Cluster) { patched(w, 10.01, "web", without); patched(w, 10.02, "db", without) }, []types.UID{"db", "web"}, 10.02},
		{"one twice", func(w *world.Cluster) { patched(w, 10.01, "web", without); patched(w, 10.02, "web", without) }, []types.UID{"web"}, 10.02},
		{"as with it", func(w *world.Cluster) { patched(w, 10.01, "web", with) }, nil, 0},
		{"as with it, and one as without: they wait for each other", func(w *world.Cluster) { patched(w, 10.01, "web", with); patched(w, 10.02, "db", without) }, []types.UID{"db"}, 10.02},
		{"as without it, where it would fit with it: another may have the place", func(w *world.Cluster) { patched(w, 10.01, "fits", without) }, nil, 0},
		{"otherwise", func(w *world.Cluster) { patched(w, 10.01, "web", other) }, nil, 0},
		{"of a pod to which it is all the same", func(w *world.Cluster) { patched(w, 10.01, "elsewhere", without) }, nil, 0},
		{"of a pod that is not known", func(w *world.Cluster) { patched(w, 10.01, "stranger", without) }, nil, 0},
		{"of the attempt that the model has had", func(w *world.Cluster) { patched(w, 10.01, "tried", without) }, nil, 0},
		{"sent before it could be delivered", func(w *world.Cluster) { patched(w, 10, "web", without) }, nil, 0},
		{"later than anybody looks", func(w *world.Cluster) { patched(w, 10+channels.Foresight.Seconds(), "web", without) }, nil, 0},
		{"by an Event", func(w *world.Cluster) { w.Failed(10.01, world.PendingPod("web", "1"), without) }, nil, 0},
		{"by a patch of which it is not told what it wrote", func(w *world.Cluster) { w.Add(10.01, &sources.StatusPatched{Pod: world.Key("web"), UID: "web"}) }, nil, 0},
		{"after the node has changed again", func(w *world.Cluster) {
			changes(w, 10.005, sources.Updated, "node-a", true)
			patched(w, 10.01, "web", without)
		}, []types.UID{"web"}, 10.01},
		{"after the node is as it was", func(w *world.Cluster) {
			changes(w, 10.005, sources.Updated, "node-a", false)
			patched(w, 10.01, "web", without)
		}, nil, 0},
		{"after another node has changed", func(w *world.Cluster) {
			changes(w, 10.005, sources.Updated, "node-b", true)
			patched(w, 10.01, "web", without)
		}, nil, 0},
		{"after an update of another node that changes nothing", func(w *world.Cluster) {
			changes(w, 10.005, sources.Updated, "node-b", false)
			patched(w, 10.01, "web", without)
		}, []types.UID{"web"}, 10.01},
		{"after another node has come", func(w *world.Cluster) {
			changes(w, 10.005, sources.Added, "node-c", true)
			patched(w, 10.01, "web", without)
		}, []types.UID{"web"}, 10.01},
		{"after another node is gone", func(w *world.Cluster) {
			changes(w, 10.005, sources.Deleted, "node-b", true)
			patched(w, 10.01, "web", without)
		}, nil, 0},
	} {
		j := &judges{heard: world.Node("node-a", "1"), comes: "node-c"}
		first := hearingOf(t, j, c.of, 0).MadeFirst(world.At(10), changedNode())
		if got := slices.Sorted(maps.Keys(first.Pods)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v are tried before, want %v", c.name, got, c.want)
		}
		if c.by > 0 && first.By.Sub(world.At(c.by)).Abs() > time.Microsecond {
			t.Errorf("%s: by %v, want %v", c.name, first.By, world.At(c.by))
		}
		if j.changed {
			t.Errorf("%s: the change stays in the scheduler", c.name)
		}
	}
}

// hearingOf returns what is known at 10 of a scheduler. A request has waited if fewer than left are left of what the scheduler may send.
func hearingOf(t *testing.T, j *judges, of func(w *world.Cluster), left float64) *Hearing {
	t.Helper()
	var w world.Cluster
	of(&w)
	h := &Hearing{
		Future:    evidence.NewUntold(evidence.Of(w.Events), time.Minute, 3*time.Millisecond, rate.NewLimiter(1, 1), left, 0),
		Channels:  channels.New(world.Config(t), true),
		Line:      lineup.Lineup{Queue: line{}},
		Tried:     &tried.Pods{},
		Scheduler: j,
		Pod: func(s *evidence.Sighting) *v1.Pod {
			if s.Pod.Name == "stranger" {
				return nil
			}
			return world.PendingPod(s.Pod.Name, "1")
		},
		SeesNodes: true,
	}
	h.Tried.Note("tried", tried.Attempt{At: world.At(9), Message: without + helps})
	return h
}

// changedNode is the change of node-a.
func changedNode() *sources.ObjectChange {
	return &sources.ObjectChange{Verb: sources.Updated, Object: world.Node("node-a", "1")}
}

// TestMadeFirstNothing: there are none before a change by which no attempt comes to something else, before one of what is no node, or of a
// node that is gone, and where the source tells of no nodes.
func TestMadeFirstNothing(t *testing.T) {
	told := func(w *world.Cluster) { w.Patched(10.01, world.PendingPod("web", "1"), without, "") }
	same, node := world.Node("node-a", "1"), world.Node("node-a", "1")
	same.Spec.Unschedulable = true
	for _, c := range []struct {
		name   string
		change *sources.ObjectChange
		blind  bool
		want   int
	}{
		{"the node", changedNode(), false, 1},
		{"as it was", &sources.ObjectChange{Verb: sources.Updated, Object: same}, false, 0},
		{"is gone", &sources.ObjectChange{Verb: sources.Deleted, Object: node}, false, 0},
		{"a pod", &sources.ObjectChange{Verb: sources.Updated, Object: world.PendingPod("db", "1")}, false, 0},
		{"of no nodes", changedNode(), true, 0},
	} {
		h := hearingOf(t, &judges{heard: world.Node("node-a", "1")}, told, 0)
		h.SeesNodes = !c.blind
		if got := len(h.MadeFirst(world.At(10), c.change).Pods); got != c.want {
			t.Errorf("%s: %d are tried before, want %d", c.name, got, c.want)
		}
	}
}

// line is a queue whose pods have no turn.
type line map[string]queue.PodInfo

func (l line) Upcoming() iter.Seq[*v1.Pod] { return func(func(*v1.Pod) bool) {} }

func (l line) Get(_, name string) (queue.PodInfo, bool) {
	info, ok := l[name]
	return info, ok
}
