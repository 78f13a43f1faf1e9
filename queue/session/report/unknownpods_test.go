package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

func movesOf(t *testing.T, rec *sources.Recording) (moves []string) {
	t.Helper()
	if err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
		observed := ""
		if m.Observed {
			observed = " observed"
		}
		moves = append(moves, fmt.Sprintf("%s %v%s", m.Pod.Key.Name, m.To, observed))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return moves
}

// TestPodsWithoutObject: pods in the log whose object is unknown are shown as logged, while the others are modelled.
func TestPodsWithoutObject(t *testing.T) {
	for _, level := range []int{sources.AttemptsVerbosity, 3} {
		var c world.Cluster
		world.Change(&c, 0, sources.Added, world.Node("n", "1"), nil)
		world.Change(&c, 0, sources.Added, world.PendingPod("known", "3"), nil)
		c.Add(0, &sources.Attached{})
		c.Add(1, &sources.Logged{Verbosity: level})
		c.Add(2, &sources.FailedAttempt{Pod: world.Key("waits"), Log: true, Message: world.TooSmall})
		c.Add(3, &sources.Bound{Pod: world.Key("bound"), Node: "n"})
		c.Add(4, &sources.FailedAttempt{Pod: world.Key("known"), UID: "known", Log: true, Message: world.TooSmall})
		c.Add(5, &sources.Logged{Verbosity: -1})
		moves := movesOf(t, c.Recording(6))
		for _, want := range []string{"waits inflight observed", "waits unschedulable observed", "bound scheduled observed", "known unschedulable"} {
			if !slices.ContainsFunc(moves, func(m string) bool { return strings.HasPrefix(m, want) }) {
				t.Errorf("-v=%d: no move %q among %q", level, want, moves)
			}
		}
		if notices := strings.Join(Notices(c.Recording(6)), "|"); !strings.Contains(notices, "names pods without an object, such as default/waits") {
			t.Errorf("notices %q", notices)
		}
	}
}

// TestLastEvent: the last event of a recording has its effect, even if it is the only one.
func TestLastEvent(t *testing.T) {
	create := func(c *world.Cluster) *v1.Pod {
		return world.Change(c, 1, sources.Added, world.PendingPod("a", "1"), nil)
	}
	node := func(c *world.Cluster) { world.Change(c, 0, sources.Added, world.Node("n", "1"), nil) }
	for name, c := range map[string]struct {
		do   func(*world.Cluster)
		want string
	}{
		"a pod is created": {func(c *world.Cluster) { node(c); create(c) }, "a active"},
		"one event":        {func(c *world.Cluster) { create(c) }, "a active"},
		"a gated pod": {func(c *world.Cluster) {
			node(c)
			world.Change(c, 1, sources.Added, world.PendingPod("a", "1"), func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} })
		}, "a gated"},
		"a pod that never fits is deleted": {func(c *world.Cluster) { pod := create(c); world.Change(c, 60, sources.Deleted, pod, nil) }, "a deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			var w world.Cluster
			c.do(&w)
			rec := w.Recording(0)
			rec.End = w.Events[len(w.Events)-1].Time
			moves := movesOf(t, rec)
			if len(moves) == 0 || moves[len(moves)-1] != c.want {
				t.Errorf("moves are %q, want the last to be %q", moves, c.want)
			}
		})
	}
}

// TestNoNode: a recording with pods but without nodes is reported as such, not as empty.
func TestNoNode(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 0, sources.Added, world.PendingPod("a", "1"), nil)
	if notices := strings.Join(Notices(c.Recording(1)), "|"); !strings.Contains(notices, "contains no node") {
		t.Errorf("notices %q", notices)
	}
	tally := NewCoverageTally()
	for _, ev := range c.Events {
		tally.Add(ev)
	}
	if row := tally.Rows()[0]; row.Found != "1 change of pods, none of nodes" || !strings.Contains(row.Cost, "no node is known") {
		t.Errorf("got %+v", row)
	}
}
