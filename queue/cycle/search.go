package cycle

import (
	"context"
	"runtime"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
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

// searching is a framework's handle with the parallelizer s.
type searching struct {
	fwk.Handle
	s *search
}

// Parallelizer implements fwk.Handle.
func (h searching) Parallelizer() fwk.Parallelizer { return h.s }
