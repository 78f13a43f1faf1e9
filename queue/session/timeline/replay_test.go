package timeline_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestReplayIsInTimeOrder: moves are in time order even if the end of an attempt is logged long after it began and the model
// contradicts it, because the pod was gated.
func TestReplayIsInTimeOrder(t *testing.T) {
	var c world.Cluster
	c.Add(0, &sources.Logged{Verbosity: sources.AttemptsVerbosity + 1})
	world.Change(&c, 0, sources.Added, world.Node("node-a", "8"), nil)
	gated := world.Change(&c, 1, sources.Added, world.PendingPod("gated", "1"), func(p *v1.Pod) {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "gate"}}
	})
	for i := range 30 {
		at := 20 + 2*float64(i)
		pod := world.Change(&c, at, sources.Added, world.PendingPod(fmt.Sprintf("p-%d", i), "100m"), nil)
		c.Add(at+0.1, &sources.Bound{Pod: world.Key(pod.Name), UID: pod.UID, Node: "node-a", Began: world.At(at + 0.05)})
	}
	c.Add(90, &sources.Bound{Pod: world.Key(gated.Name), UID: gated.UID, Node: "node-a", Began: world.At(30)})
	if moves := inOrder(t, c.Recording(100)); moves < 60 {
		t.Errorf("%d moves", moves)
	}
}

// TestAnyReplayIsInTimeOrder: moves are in time order, whatever the recording contains.
func TestAnyReplayIsInTimeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := world.Recordings(80).Draw(t, "recording")
		rec.Rerun = rapid.Bool().Draw(t, "rerun")
		inOrder(t, rec)
	})
}

// inOrder checks that rec's moves are in time order, and returns their number.
func inOrder(t rapid.TB, rec *sources.Recording) (moves int) {
	var last time.Time
	err := timeline.Replay(context.Background(), rec, timeline.Options{}, func(m *board.Transition) error {
		if m.Time.Before(last) {
			t.Errorf("after %s: %s", last, m)
		}
		last = m.Time
		moves++
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return moves
}
