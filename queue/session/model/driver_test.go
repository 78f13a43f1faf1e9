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
	world.Happens(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
	c.Stuck(1.5, "other") // whose patch tells that requests are told
	web := world.Happens(&c, 2, sources.Added, world.Wants("web", "2"), nil)
	db := world.Happens(&c, 2, sources.Added, world.Wants("db", "2"), nil)
	c.Bound(2.004, db, "node-a")
	world.Happens(&c, 7, sources.Deleted, web, nil)
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

// TestCatchesUp: a pod is bound sooner than the model's loop comes to it. The attempt under way ends, and that pod is
// the next; the others keep their turn.
func TestCatchesUp(t *testing.T) {
	var c world.Cluster
	world.Happens(&c, 1, sources.Added, world.Node("node-a", "4"), nil)
	var pods []*v1.Pod
	for i := range 5 {
		pods = append(pods, world.Happens(&c, 2+0.0001*float64(i), sources.Added, world.Wants(fmt.Sprint("web-", i), "100m"), nil))
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
