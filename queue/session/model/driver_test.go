package model_test

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestTakenBack: the model begins with web, of which nothing shows, while db is bound. So it was db that the loop
// took: web's attempt was never made, and its only one comes after.
func TestTakenBack(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
	c.AddStuck(1.5, "other") // whose patch tells that requests are told
	web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), func(p *v1.Pod) { world.Reject(p, world.TooSmall, "") })
	db := world.Change(&c, 2, sources.Added, world.PendingPod("db", "2"), nil)
	c.Bound(2.004, db, "node-a")
	world.Change(&c, 7, sources.Deleted, web, nil)
	var order []string
	if err := timeline.Replay(t.Context(), c.Recording(20), timeline.Options{}, func(m *board.Transition) error {
		if m.To == queue.InFlight && m.Time.After(world.At(2)) && len(order) < 2 {
			order = append(order, fmt.Sprintf("%s %d", m.Pod.Key.Name, m.Attempts))
		}
		return nil
	}); err != nil || !slices.Equal(order, []string{"db 1", "web 1"}) {
		t.Errorf("%v, the loop takes %v", err, order)
	}
}

// TestWaitsBehindOthers: the patch of large's attempt, which failed, waits for the client's rate limit behind other requests,
// and the loop with it: late, which comes meanwhile, is tried once the patch was answered. That is so where the model places
// large, and where odd is seen bound meanwhile, whose attempt was before.
func TestWaitsBehindOthers(t *testing.T) {
	for _, asks := range []string{"8", "2"} {
		var c world.Cluster
		n := world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
		odd := c.Patched(1.205, world.Change(&c, 1.2, sources.Added, world.PendingPod("odd", "8"), nil), world.TooSmall, "")
		for range 150 { // 50 more than may be sent at once: a second's
			c.Add(1.9, &sources.Requested{})
		}
		web := world.Change(&c, 2, sources.Added, world.PendingPod("web", "1"), nil)
		large := world.Change(&c, 2.001, sources.Added, world.PendingPod("large", asks), nil)
		late := world.Change(&c, 2.1, sources.Added, world.PendingPod("late", "1"), nil)
		world.Change(&c, 2.15, sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, "16") })
		c.Add(2.2, &sources.Requested{})
		c.Bound(2.203, web, "node-a")
		c.Add(2.24, &sources.Requested{})
		c.Bound(2.243, odd, "node-a")
		c.Add(2.3, &sources.Requested{})
		c.Patched(2.305, large, world.TooSmall, "")
		c.Add(2.4, &sources.Requested{})
		c.Bound(2.403, late, "node-a")
		var order []string
		if err := timeline.Replay(t.Context(), c.Recording(3), timeline.Options{}, func(m *board.Transition) error {
			if m.To == queue.InFlight && m.Time.After(world.At(1.9)) && len(order) < 4 {
				order = append(order, fmt.Sprintf("%s %t", m.Pod.Key.Name, m.Time.Before(world.At(2.305))))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if want := []string{"web true", "large true", "odd true", "late false"}; !slices.Equal(order, want) {
			t.Errorf("if large asks for %s, the loop takes, and before the patch is answered: %v, want %v", asks, order, want)
		}
	}
}

// TestCatchesUp: a pod is bound sooner than the model's loop comes to it. The attempt under way ends, and that pod is
// the next; the others keep their turn.
func TestCatchesUp(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
	var pods []*v1.Pod
	for i := range 5 {
		pods = append(pods, world.Change(&c, 2+0.0001*float64(i), sources.Added, world.PendingPod(fmt.Sprint("web-", i), "100m"), nil))
	}
	c.Bound(2.0029, pods[4], "node-a")
	var order []string
	if err := timeline.Replay(t.Context(), c.Recording(3), timeline.Options{}, func(m *board.Transition) error {
		if m.To == queue.InFlight {
			order = append(order, m.Pod.Key.Name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"web-0", "web-1", "web-2", "web-4", "web-3"}; !slices.Equal(order, want) {
		t.Errorf("the loop takes %v, want %v", order, want)
	}
}
