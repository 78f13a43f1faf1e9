package model_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestGoneBeforeTheirTurn: of the last three of a crowd, which are deleted while their bindings wait for the client's rate limit, nothing shows to a
// session. Each binding is refused in its turn, and so is, behind them, the patch for which the loop waits. The patch of the next pod
// is behind those that are written once the bindings have failed.
func TestGoneBeforeTheirTurn(t *testing.T) {
	var w world.Cluster
	for _, node := range []string{"node-a", "node-b"} {
		world.Happens(&w, 0.5, sources.Added, world.Node(node, "100"), nil)
	}
	w.Add(1, &sources.Attached{Nodes: true})
	for i := range 150 {
		w.Bound(1.1+0.005*float64(i), comes(&w, 1.099+0.005*float64(i), fmt.Sprint("old-", i), "1m", nil), "node-a")
	}
	var crowd []*v1.Pod
	for i := range 6 {
		crowd = append(crowd, comes(&w, 2+0.0001*float64(i), fmt.Sprint("crowd-", i), "100m", free))
	}
	crowd = append(crowd, comes(&w, 2.005, "large", "200", nil))
	next := comes(&w, 2.006, "next", "200", nil)
	comes(&w, 2.007, "last", "200", free)
	for i, pod := range crowd {
		if i < 3 {
			w.Bound(2.02+0.02*float64(i), pod, "node-b")
		} else {
			world.Happens(&w, 2.068+0.002*float64(i), sources.Deleted, pod, nil)
		}
	}
	world.Happens(&w, 2.15, sources.Deleted, next, nil)
	f := model.NewLiveFeed(world.Config(t))
	t.Cleanup(f.Close)
	f.Arrive(w.Events, world.At(2.8), sources.Status{})
	f.Arrive(nil, world.At(4), sources.Status{})
	made(f)
	says(t, traceOf(f, 2.0605, false), `
		2.061 crowd-2 deleted
		2.075 large backoff AssignedPodDelete
		2.080 crowd-3 deleted
		2.081 large deleted
		2.100 crowd-4 deleted
		2.120 crowd-5 deleted
		2.140 next inflight (turn)
		2.141 next unschedulable ScheduleAttemptFailure NodeResourcesFit in 670µs
		2.151 next deleted
		2.220 last inflight (turn)
		2.221 last unschedulable ScheduleAttemptFailure NodeResourcesFit in 670µs`)
}
