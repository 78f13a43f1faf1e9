package hearing

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

const (
	without = "0/2 nodes are available: 2 node(s) had untolerated taint(s)."
	with    = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."
	other   = "0/2 nodes are available: 2 Insufficient memory."
	helps   = " preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
)

// judges says of a pod what it is named for.
type judges struct {
	heard   *v1.Node
	comes   string // a node of which it has not heard
	changed bool
}

func (j *judges) Judge(pod *v1.Pod) (cycle.Verdict, error) {
	switch {
	case pod.Name == "odd":
		return cycle.Verdict{Message: without}, errors.New("nobody can read it")
	case !j.changed || pod.Name == "elsewhere":
		return cycle.Verdict{Message: without}, nil
	case pod.Name == "fits":
		return cycle.Verdict{Node: "node-a"}, nil
	}
	return cycle.Verdict{Message: with}, nil
}

func (j *judges) KnownNode(name string) *v1.Node {
	if name == j.comes {
		return nil
	}
	return j.heard
}

func (j *judges) NodeChanged(_, node *v1.Node) bool { return !node.Spec.Unschedulable }

func (j *judges) Load(obj runtime.Object) error {
	j.changed = obj != j.heard
	return nil
}

func (j *judges) Unload(runtime.Object) error {
	j.changed = false
	return nil
}

func (*judges) WouldWake(*v1.Pod, runtime.Object, bool) bool { return false }

// TestMissedBy: the change of node-a can be delivered from 10 on.
func TestMissedBy(t *testing.T) {
	told := func(w *world.Cluster, seconds float64, pod, message string, count int) {
		w.Add(seconds, &sources.FailedAttempt{Pod: world.Key(pod), UID: world.PendingPod(pod, "1").UID, Message: sources.SafeText(message + helps), Recorded: sources.NewRecorded("7", count)})
	}
	changes := func(w *world.Cluster, seconds float64, verb sources.Verb, node string) {
		w.Add(seconds, &sources.ObjectChange{Verb: verb, Object: world.Node(node, "1")})
	}
	for _, c := range []struct {
		name string
		of   func(w *world.Cluster)
		want float64 // 0: nothing tells
	}{
		{"no Event", func(*world.Cluster) {}, 0},
		{"as without it", func(w *world.Cluster) { told(w, 10.01, "web", without, 1) }, 10.01},
		{"as without it, twice", func(w *world.Cluster) { told(w, 10.01, "web", without, 1); told(w, 10.02, "db", without, 1) }, 10.02},
		{"as without it, where it would fit with it", func(w *world.Cluster) { told(w, 10.01, "fits", without, 1) }, 10.01},
		{"as with it", func(w *world.Cluster) { told(w, 10.01, "web", with, 1) }, 0},
		{"as with it, then as without: something else has changed", func(w *world.Cluster) { told(w, 10.01, "web", with, 1); told(w, 10.02, "db", without, 1) }, 0},
		{"otherwise", func(w *world.Cluster) { told(w, 10.01, "web", other, 1) }, 0},
		{"otherwise, then as without", func(w *world.Cluster) { told(w, 10.01, "web", other, 1); told(w, 10.02, "db", without, 1) }, 10.02},
		{"of a pod to which it is all the same", func(w *world.Cluster) { told(w, 10.01, "elsewhere", without, 1) }, 0},
		{"of a pod that can't be judged", func(w *world.Cluster) { told(w, 10.01, "odd", without, 1) }, 0},
		{"of a pod that is not known", func(w *world.Cluster) { told(w, 10.01, "stranger", without, 1) }, 0},
		{"in the words of another attempt", func(w *world.Cluster) { told(w, 10.01, "web", without, 2) }, 0},
		{"before it could be delivered", func(w *world.Cluster) { told(w, 10, "web", without, 1) }, 0},
		{"later than anybody looks", func(w *world.Cluster) { told(w, 10.5, "web", without, 1) }, 0},
		{"after the node has changed again", func(w *world.Cluster) {
			changes(w, 10.01, sources.Updated, "node-a")
			told(w, 10.02, "web", without, 1)
		}, 0},
		{"after another node has changed", func(w *world.Cluster) {
			changes(w, 10.01, sources.Updated, "node-b")
			told(w, 10.02, "web", without, 1)
		}, 10.02},
		{"after another node is gone", func(w *world.Cluster) {
			changes(w, 10.01, sources.Deleted, "node-b")
			told(w, 10.02, "web", without, 1)
		}, 0},
	} {
		var w world.Cluster
		c.of(&w)
		f := evidence.New(evidence.Of(w.Events), time.Minute, time.Millisecond, rate.NewLimiter(rate.Inf, 0))
		var want time.Time
		if c.want > 0 {
			want = world.At(c.want)
		}
		for _, heard := range []*v1.Node{world.Node("node-a", "1"), nil} {
			j := &judges{heard: heard}
			got := MissedBy(f, world.At(10), 400*time.Millisecond, world.Node("node-a", "1"), j, func(s *evidence.Sighting) *v1.Pod {
				if s.Pod.Name == "stranger" {
					return nil
				}
				return world.PendingPod(s.Pod.Name, "1")
			})
			if !got.Equal(want) {
				t.Errorf("%s: missed by the attempt that ended at %v, want %v", c.name, got, want)
			}
			if j.changed {
				t.Errorf("%s: the change stays in the scheduler", c.name)
			}
		}
	}
}
