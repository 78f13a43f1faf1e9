package classic

import (
	"context"
	"time"

	"github.com/schedq/schedq/queue"
)

// Run starts the two flushes and returns. The backoff flush runs every queue.BackoffFlushInterval and, with
// PopFromBackoffQ, at whole seconds. The leftover flush runs now and every queue.LeftoverFlushInterval. Both
// stop with ctx or Close. Call Run once.
//
// The end of ctx does not close the queue; use context.AfterFunc(ctx, q.Close) for that. Run models Run in
// scheduling_queue.go and waitUntilAlignedWithOrderingWindow in backoff_queue.go.
func (q *Queue) Run(ctx context.Context) {
	now := q.clock.Now()
	window := now.Add(queue.BackoffFlushInterval)
	if q.machine.Options().PopFromBackoffQ {
		window = window.Truncate(queue.BackoffFlushInterval)
	}
	go q.repeat(ctx, window.Sub(now), queue.BackoffFlushInterval, func(now time.Time) error {
		q.machine.FlushBackoffCompleted(now)
		return nil
	})
	go q.repeat(ctx, 0, queue.LeftoverFlushInterval, func(now time.Time) error {
		q.machine.FlushUnschedulableLeftover(now)
		return nil
	})
}

// repeat flushes after wait and then at every interval, until ctx ends or the queue is closed. Only the Observer
// receives the errors of a flush.
func (q *Queue) repeat(ctx context.Context, wait, interval time.Duration, flush func(now time.Time) error) {
	if wait > 0 {
		timer := q.clock.NewTimer(wait)
		defer timer.Stop()
		if !q.wait(ctx, timer.C()) {
			return
		}
	}
	ticker := q.clock.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		_ = q.withMachine(flush)
		if !q.wait(ctx, ticker.C()) {
			return
		}
	}
}

// wait waits for c. It returns false if ctx ended or the queue was closed.
func (q *Queue) wait(ctx context.Context, c <-chan time.Time) bool {
	select {
	case <-c:
	case <-ctx.Done():
	case <-q.stop:
	}
	select {
	case <-q.stop:
		return false
	default:
		return ctx.Err() == nil
	}
}
