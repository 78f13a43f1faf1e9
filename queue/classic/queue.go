// Package classic provides the scheduling queue for programs that embed it: a queue.Queue with a lock, a
// clock and a Pop that blocks. It has the methods of kube-scheduler's SchedulingQueue in v1.19 and those of
// later releases. docs/development/embedding.md shows how to use it.
//
// It models k8s.io/kubernetes/pkg/scheduler/backend/queue, with these differences:
//   - No method takes a context or a logger. Errors that upstream logs are returned by the method in which
//     they occur, and passed to the Observer. The Observer also receives all moves.
//   - The result of an attempt is a queue.PodInfo with the plugins that rejected it, like upstream's
//     QueuedPodInfo. Pop returns it without the plugins of the previous attempt.
//   - After Close, Pop returns ErrClosed. Upstream's returns nil and no error.
//   - Close may be called repeatedly, and pods in flight stay in flight. Upstream drops them, for its metrics.
//   - There is no pod lister. The caller of AddNominatedPod guarantees that the pod exists and is unassigned.
package classic

import (
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/schedq/schedq/queue"
)

// ErrClosed is returned by Pop when the queue is closed and has no pod to pop.
var ErrClosed = errors.New("the scheduling queue is closed")

// Queue is a scheduling queue that is safe for concurrent use. The pods that it receives and returns are shared
// and must not be modified.
type Queue struct {
	clock    clock.WithTicker
	observer queue.Observer
	log      queue.Observer // called under the lock
	stop     chan struct{}

	mu      sync.RWMutex
	canPop  sync.Cond // signals that there may be a pod to pop, or that the queue is closed
	machine *queue.Queue
	closed  bool
	errs    errorList
	events  []event // not yet passed to the Observer
	busy    bool    // a goroutine is calling the Observer
}

// Option configures a Queue.
type Option func(*config)

type config struct {
	clock    clock.WithTicker
	plugins  queue.Plugins
	observer queue.Observer
	log      queue.Observer
}

// WithClock sets the clock of backoffs and flushes. The default is the real clock.
func WithClock(c clock.WithTicker) Option { return func(o *config) { o.clock = c } }

// WithPlugins sets the scheduling framework's plugins. The default is queue.EveryEvent. The queue calls them
// under its lock, and they must not call the queue.
func WithPlugins(p queue.Plugins) Option { return func(o *config) { o.plugins = p } }

// WithObserver sets an observer that receives every move and every error in order, one call at a time and without
// the queue's lock. It may call the queue, but must not block in Pop or wait for another move.
//
// A method returns after the observer received the method's moves, unless the observer is busy, in another
// goroutine or because it called the method itself. Then another goroutine passes the moves on later. They are
// kept in memory, so an observer slower than the queue should do its work elsewhere.
func WithObserver(o queue.Observer) Option { return func(c *config) { c.observer = o } }

// WithLog sets an observer that receives every move and every error immediately, under the queue's lock. As with
// upstream's log, a move is logged before any of its consequences. The observer must be fast and must not call
// the queue.
func WithLog(o queue.Observer) Option { return func(c *config) { c.log = o } }

// New returns an empty queue. Call Run to start the flushes.
func New(opts queue.Options, options ...Option) *Queue {
	var c config
	for _, option := range options {
		option(&c)
	}
	if c.clock == nil {
		c.clock = clock.RealClock{}
	}
	q := &Queue{
		clock: c.clock, observer: c.observer, log: c.log,
		stop: make(chan struct{}),
	}
	q.canPop.L = &q.mu
	q.machine = queue.New(opts, c.plugins, recorder{q})
	return q
}

// withMachine calls act under the lock, and then the Observer. It returns the error of act or, if that is nil,
// the machine's errors.
func (q *Queue) withMachine(act func(now time.Time) error) error {
	events, err := q.locked(act)
	q.notify(events)
	return err
}

// locked calls act under the lock and wakes Pop if there is a pod to pop. The caller must pass the returned
// events to notify.
func (q *Queue) locked(act func(now time.Time) error) ([]event, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.errs = errorList{}
	err := act(q.clock.Now())
	if err == nil {
		err = q.errs.error()
	}
	if q.machine.CanPop() {
		q.canPop.Broadcast()
	}
	return q.claimEvents(), err
}

// Add adds a pod to activeQ, or to the gated pods if a PreEnqueue plugin rejects it.
func (q *Queue) Add(pod *v1.Pod) error {
	if err := present("Add", pod); err != nil {
		return err
	}
	return q.withMachine(func(now time.Time) error {
		q.machine.Add(now, pod)
		return nil
	})
}

// Pop pops the head of activeQ or, if that is empty and with PopFromBackoffQ, the head of backoffQ. It blocks
// until there is a pod. When the queue is closed and no pod is left, it returns ErrClosed.
//
// The pod is in flight until Done, Bound or AddUnschedulableIfNotPresent. Pop drops a pod whose previous
// attempt is still in flight, which only the Observer learns.
func (q *Queue) Pop() (*queue.PodInfo, error) {
	entity, err := q.PopEntity()
	if err != nil {
		return nil, err
	}
	info := entity.Pod
	if entity.Group != nil {
		info = entity.Group.Members[0]
	}
	info.UnschedulablePlugins, info.PendingPlugins = nil, nil
	return &info, nil
}

// AddUnschedulableIfNotPresent returns a pod to the queue after a failed attempt: to the unschedulable pods
// or, if an event during the attempt may make it schedulable, to backoffQ or activeQ. It uses three fields of
// info: Pod, the newest object, and UnschedulablePlugins and PendingPlugins, the plugins that rejected the
// pod, which are empty after an error.
//
// The second parameter is upstream's podSchedulingCycle, and is ignored.
//
// It fails if a pod of that name is queued already; the attempt ends nevertheless. It also fails if the pod
// was never popped or a queueing hint failed; the pod is queued nevertheless.
func (q *Queue) AddUnschedulableIfNotPresent(info *queue.PodInfo, _ int64) error {
	if info == nil {
		return errors.New("AddUnschedulableIfNotPresent: the pod info is nil: pass the result of Pop")
	}
	if err := present("AddUnschedulableIfNotPresent", info.Pod); err != nil {
		return err
	}
	return q.withMachine(func(now time.Time) error {
		return q.machine.AddUnschedulableIfNotPresent(now, info.Pod, queue.Rejection{
			UnschedulablePlugins: info.UnschedulablePlugins,
			PendingPlugins:       info.PendingPlugins,
		})
	})
}

// Done ends the attempt of the pod in flight with that UID. Call it for every popped pod that does not return to
// the queue through AddUnschedulableIfNotPresent. It ignores unknown UIDs.
func (q *Queue) Done(uid types.UID) {
	_ = q.withMachine(func(now time.Time) error {
		q.machine.Done(now, uid)
		return nil
	})
}

// Bound is Done for a pod that was bound to its node. The Observer sees a move to Scheduled.
func (q *Queue) Bound(uid types.UID) {
	_ = q.withMachine(func(now time.Time) error {
		q.machine.Bound(now, uid)
		return nil
	})
}

// Delete removes a pod that was deleted or has a node now. A pod in flight stays in flight until its attempt
// ends. Delete ignores unknown pods.
func (q *Queue) Delete(pod *v1.Pod) error {
	if err := present("Delete", pod); err != nil {
		return err
	}
	return q.withMachine(func(now time.Time) error {
		q.machine.Delete(now, pod)
		return nil
	})
}

// SchedulingCycle returns the number of entities popped so far.
func (q *Queue) SchedulingCycle() int64 {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.SchedulingCycle()
}

// Close stops the flushes and makes Pop return ErrClosed when no pod is left. It does not wait for either, and
// may be called repeatedly. All other methods continue to work.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	close(q.stop)
	q.canPop.Broadcast()
}

// Closed returns a channel that is closed by Close.
func (q *Queue) Closed() <-chan struct{} { return q.stop }

// present returns an error if pod is nil.
func present(method string, pod *v1.Pod) error {
	if pod == nil {
		return fmt.Errorf("%s: the pod is nil", method)
	}
	return nil
}

// PopEntity is Pop for a queue with pod groups. It returns a pod, or a pod group whose pods are all in flight. The
// caller must end a group's attempt with AddAttemptedPodGroupIfNeeded before the next pop. The result includes
// the plugins that rejected the previous attempt.
func (q *Queue) PopEntity() (queue.Entity, error) {
	for {
		entity, events, err := q.popEntity()
		q.notify(events)
		if entity.Pod.Pod != nil || entity.Group != nil || err != nil {
			return entity, err
		}
	}
}

// popEntity waits for an entity and pops it. It returns an empty one if it had to drop all pods.
func (q *Queue) popEntity() (queue.Entity, []event, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && !q.machine.CanPop() {
		q.canPop.Wait()
	}
	entity, ok := q.machine.PopEntity(q.clock.Now())
	if !ok && q.closed {
		return queue.Entity{}, q.claimEvents(), ErrClosed
	}
	return entity, q.claimEvents(), nil
}
