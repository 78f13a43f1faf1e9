package shadow_test

import (
	"slices"
	"testing"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestReasonsOnAttaching: whose reason it is that several plugins may give, an attempt tells that the model's scheduler makes of a
// pod that was there before. So the next failure for that reason is that plugin's, and only what it registered for wakes the pod.
func TestReasonsOnAttaching(t *testing.T) {
	const noClaim = `0/1 nodes are available: persistentvolumeclaim "data" not found. not found`
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "4"), nil)
	web := world.PendingPod("web", "1")
	world.Mount(web, "data")
	world.Reject(web, noClaim, "")
	web = world.Change(&w, 1, sources.Added, web, nil)
	w.Add(1, &sources.Attached{Nodes: true})
	w.Failed(3, web, noClaim)
	w.AddSmall(5) // a pod on a node, which is nothing to one without its claim
	f := played(t, world.Config(t), &w, 8, broken("", 0, 0))
	if got, want := moves(f, "web"), []string{"1.0 unschedulable", "3.0 inflight", "3.0 unschedulable"}; !slices.Equal(got, want) {
		t.Errorf("it moves %v, want %v", got, want)
	}
}
