package shadow_test

import (
	"fmt"
	"testing"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// reasons replays rec and tells of each move of the named pod where to it goes, and why the model made it.
func reasons(t *testing.T, rec *sources.Recording, pod string) (told []string) {
	t.Helper()
	if err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
		if m.Pod.Key.Name == pod {
			told = append(told, fmt.Sprintf("%s: %s", m.To, m.Pod.Cause.Sentence(words.Zone{})))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return told
}

// TestBecause: each modelled move says by which rule it was made, and on what evidence.
func TestBecause(t *testing.T) {
	const queued, turn = "active: By the queue's own rules.", "inflight: Popped in queue order; such an attempt may leave no trace."
	t.Run("in its turn, and no binding is seen", func(t *testing.T) {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Change(&c, 2, sources.Added, world.PendingPod("web", "3"), nil)
		db := world.Change(&c, 6, sources.Added, world.PendingPod("db", "4"), nil)
		c.Bound(6.01, db, "node-a")
		rec := c.Recording(6.5)
		expect(t, "web", reasons(t, rec, "web")[:3], []string{queued, turn, "unschedulable: It was assigned to a node here, and no binding was observed."})
		expect(t, "db", reasons(t, rec, "db"), []string{queued, turn, "scheduled: Moved to match its binding at 12:00:06.010."})
	})
	t.Run("it is seen to fail", func(t *testing.T) {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
		c.AddStuck(2, "web")
		expect(t, "web", reasons(t, c.Recording(3), "web"), []string{queued,
			"inflight: Popped because its attempt is the next one observed: it failed at 12:00:02.003, according to its Event.",
			"unschedulable: Moved to match the Event of its failure at 12:00:02.003."})
	})
	t.Run("it is seen to fail once more, which the model has not made of it", func(t *testing.T) {
		var c world.Cluster
		world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
		web := c.AddStuck(2, "web")
		c.Failed(5, web, "0/1 nodes are available: 1 Insufficient memory.")
		c.Patched(8, web, "0/1 nodes are available: 1 Insufficient pods.", "")
		expect(t, "web", reasons(t, c.Recording(9), "web")[3:], []string{
			"inflight: The loop had popped it before, according to what followed from it; the model was behind.",
			"unschedulable: Moved to match the Event of its failure at 12:00:05.000.",
			"inflight: The loop had popped it before, according to what followed from it; the model was behind.",
			"unschedulable: Moved to match the patch of its status at 12:00:08.000."})
	})
}
