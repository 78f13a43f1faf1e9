package cycle

import (
	"context"
	"runtime"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
)

// search is a fwk.Parallelizer for upstream's searches that end when they have found enough. Upstream looks
// at many nodes at a time, and which it has found then is chance. This one looks at no more nodes at a time
// than are still needed, so it finds those that one after the other would, however many look.
type search struct {
	workers int
	need    int
	found   atomic.Int32 // counted by whoever looks
}

// workers are as many as can run, up to upstream's default.
func workers() int { return min(16, runtime.GOMAXPROCS(0)) }

// fewNodes are not worth to begin goroutines for.
const fewNodes = 16

// Until implements fwk.Parallelizer.
func (s *search) Until(ctx context.Context, pieces int, look workqueue.DoWorkPieceFunc, _ string) {
	s.found.Store(0)
	for from := 0; from < pieces && ctx.Err() == nil; {
		n := min(max(1, s.need-int(s.found.Load())), pieces-from)
		if s.workers == 1 || n < fewNodes {
			look(from)
			from++
			continue
		}
		chunk := workqueue.WithChunkSize(1 + n/(4*s.workers))
		workqueue.ParallelizeUntil(ctx, s.workers, n, func(i int) { look(from + i) }, chunk)
		from += n
	}
}

// searching is a framework's handle whose searches are s's.
type searching struct {
	fwk.Handle
	s *search
}

// Parallelizer implements fwk.Handle.
func (h searching) Parallelizer() fwk.Parallelizer { return h.s }
