package classic

import (
	"context"
	"time"

	"github.com/schedq/schedq/queue"
)

// Run starts the two flushes and returns: that of backoffQ every queue.BackoffFlushInterval, with
// PopFromBackoffQ at whole seconds, where its windows end; and that of the unschedulable leftovers at once
// and every queue.LeftoverFlushInterval. They end with ctx or with Close. It must be called once.
//
// The end of ctx does not close the queue: context.AfterFunc(ctx, q.Close) does. (scheduling_queue.go, Run;
// backoff_queue.go, waitUntilAlignedWithOrderingWindow.)
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

// repeat flushes after wait and then at every interval, until ctx ends or the queue is closed. The errors of
// a flush are told to the Observer alone: there is nobody to return them to.
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

// wait waits for c. It returns false if ctx ended or the queue was closed first, or meanwhile.
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
