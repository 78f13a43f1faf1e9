package model_test

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// usedUp returns a cluster with two nodes to which a session comes at its start. The scheduler binds so many pods from 1.1 s on, one each so many seconds: nothing is
// left of its client's rate limit then.
func usedUp(pods int, every float64) (w world.Cluster) {
	for _, node := range []string{"node-a", "node-b"} {
		world.Change(&w, 0.5, sources.Added, world.Node(node, "100"), nil)
	}
	w.Add(1, &sources.Attached{Nodes: true})
	for i := range pods {
		at := every * float64(i)
		w.Bound(1.1+at, comes(&w, 1.099+at, fmt.Sprint("old-", i), "1m", nil), "node-a")
	}
	return w
}

// TestGoneBeforeTheirTurn: of the last three of a crowd, which are deleted while their bindings wait for the client's rate limit, nothing shows to a
// session. Each binding is refused in its turn, and so is, behind them, the patch for which the loop waits. The patch of the next pod
// is behind those that are written once the bindings have failed.
func TestGoneBeforeTheirTurn(t *testing.T) {
	w := usedUp(150, 0.005)
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
			world.Change(&w, 2.068+0.002*float64(i), sources.Deleted, pod, nil)
		}
	}
	world.Change(&w, 2.15, sources.Deleted, next, nil)
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

// TestGoneInLine: a pod of v1.34.1 is placed while the patch of its attempt before waits, and deleted. Its binding has the place of the patch, between the
// binding of a pod that came before that attempt and the patch of one that came after it: then it is refused. If the patch was seen to be sent, its binding is as far behind the
// last one as it was made later.
func TestGoneInLine(t *testing.T) {
	for _, c := range []struct {
		fits, patched, deleted float64
		want                   string
	}{
		{2.15, 0, 2.3, `
			2.151 gone backoff NodeAdd
			2.151 gone inflight (turn)
			2.500 before scheduled node-b (outcome)
			2.501 before deleted
			2.600 after backoff AssignedPodDelete
			2.600 gone deleted`},
		{2.2, 2.18, 2.4, `
			2.201 gone backoff NodeAdd
			2.201 gone inflight (turn)
			2.500 before scheduled node-b (outcome)
			2.501 before deleted
			2.800 after backoff AssignedPodDelete
			2.800 gone deleted`},
	} {
		w := usedUp(200, 0.0044)
		before := comes(&w, 2, "before", "100m", nil)
		gone := comes(&w, 2.05, "gone", "200", func(p *v1.Pod) { world.Reject(p, "it was another's fault", "") })
		after := comes(&w, 2.1, "after", "2000", nil)
		world.Change(&w, c.fits, sources.Added, world.Node("large", "1000"), nil)
		w.Bound(2.5, before, "node-b")
		if c.patched > 0 {
			w.Add(c.patched, &sources.StatusPatched{Pod: world.Key(gone.Name), UID: gone.UID})
		}
		world.Change(&w, c.deleted, sources.Deleted, gone, nil)
		w.Add(2.7, &sources.StatusPatched{Pod: world.Key(after.Name), UID: after.UID})
		f := model.NewLiveFeed(world.Config(t).ForVersion("v1.34.1"))
		t.Cleanup(f.Close)
		slices.SortStableFunc(w.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
		f.Arrive(w.Events, world.At(4), sources.Status{})
		made(f)
		says(t, traceOf(f, 2.15, false), c.want)
	}
}
