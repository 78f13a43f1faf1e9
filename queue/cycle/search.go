package cycle

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
)

// search is a fwk.Parallelizer for upstream's searches that end when they have found enough nodes. Upstream examines many
// nodes in parallel, so its result is random. search examines only as many in parallel as are still needed, and
// therefore finds the same nodes as a sequential search.
type search struct {
	workers int
	need    int
	found   atomic.Int32 // incremented by the caller's function
}

// workers returns the number of workers: GOMAXPROCS, up to upstream's default.
func workers() int { return min(16, runtime.GOMAXPROCS(0)) }

// minParallel is the number of nodes from which goroutines pay off.
const minParallel = 16

// Until implements fwk.Parallelizer.
func (s *search) Until(ctx context.Context, pieces int, examine workqueue.DoWorkPieceFunc, _ string) {
	s.found.Store(0)
	for from := 0; from < pieces && ctx.Err() == nil; {
		n := min(max(1, s.need-int(s.found.Load())), pieces-from)
		if s.workers == 1 || n < minParallel {
			examine(from)
			from++
			continue
		}
		chunk := workqueue.WithChunkSize(1 + n/(4*s.workers))
		workqueue.ParallelizeUntil(ctx, s.workers, n, func(i int) { examine(from + i) }, chunk)
		from += n
	}
}

// probe is a profile's framework for a search that evaluates the next nodes and rejects all. Upstream does not export
// where its next search starts: a probe shows that, and moves it.
type probe struct {
	framework.Framework
	first string // the first node of the search
	nodes int    // how many it evaluates
}

// startOfSearch returns the index in nodes at which the next search starts.
func (s *Scheduler) startOfSearch(profile framework.Framework, nodes []fwk.NodeInfo) int {
	p := &probe{Framework: profile, nodes: len(nodes)} // all, so that the next search starts at the same node
	p.run(s)
	return max(0, slices.IndexFunc(nodes, func(n fwk.NodeInfo) bool { return n.Node().Name == p.first }))
}

// moveStart makes the next search start at an index in nodes.
func (s *Scheduler) moveStart(profile framework.Framework, nodes []fwk.NodeInfo, start int) {
	if n := len(nodes); n > 0 {
		p := &probe{Framework: profile, nodes: (start - s.startOfSearch(profile, nodes) + n) % n}
		p.run(s)
	}
}

func (p *probe) run(s *Scheduler) {
	info, _ := queuedPodInfo(&queue.PodInfo{Pod: &v1.Pod{}})
	_, _ = s.upstream.SchedulePod(quiet(context.Background()), p, framework.NewCycleState(), info)
}

// RunPreFilterPlugins implements framework.Framework.
func (*probe) RunPreFilterPlugins(context.Context, fwk.CycleState, *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	return nil, nil, nil
}

// HasFilterPlugins implements framework.Framework.
func (*probe) HasFilterPlugins() bool { return true }

// Parallelizer implements fwk.Handle.
func (p *probe) Parallelizer() fwk.Parallelizer { return p }

// Until implements fwk.Parallelizer.
func (p *probe) Until(_ context.Context, _ int, examine workqueue.DoWorkPieceFunc, _ string) {
	for i := range p.nodes {
		examine(i)
	}
}

// RunFilterPluginsWithNominatedPods implements framework.Framework.
func (p *probe) RunFilterPluginsWithNominatedPods(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if p.first == "" {
		p.first = node.Node().Name
	}
	return rejectedByProbe
}

var rejectedByProbe = fwk.NewStatus(fwk.Unschedulable)

// searching is a framework's handle with the parallelizer s.
type searching struct {
	fwk.Handle
	s *search
}

// Parallelizer implements fwk.Handle.
func (h searching) Parallelizer() fwk.Parallelizer { return h.s }
