// Package classic is the scheduling queue for programs that embed it: queue.Queue behind a lock, with a
// clock and a Pop that blocks, and the methods that kube-scheduler's SchedulingQueue had in v1.19 together
// with those it has had since. docs/development/embedding.md shows how to use it.
//
// It models k8s.io/kubernetes/pkg/scheduler/backend/queue, and differs from it in this:
//   - No method takes a context or a logger. What upstream logs as an error is returned by the method that
//     met it, and told to the Observer; what it logs besides are the Observer's moves.
//   - An attempt's outcome is a queue.PodInfo with the plugins that rejected it, as upstream's
//     QueuedPodInfo. Pop returns it without those of the attempt before.
//   - After Close, Pop returns ErrClosed, where upstream returns nil without an error.
//   - Close may be called more than once, and leaves the pods in flight to whoever schedules them; upstream
//     forgets them for the sake of its metrics.
//   - There is no pod lister: AddNominatedPod trusts its caller that the pod exists and is not assigned.
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

// ErrClosed is what Pop returns when the queue is closed and has no pod left to pop.
var ErrClosed = errors.New("the scheduling queue is closed")

// Queue holds the pods that wait to be scheduled. Its methods may be called by any number of goroutines.
// Pods that are given to it and that it gives back are shared, and must not be modified.
type Queue struct {
	clock    clock.WithTicker
	observer queue.Observer
	log      queue.Observer // told under the lock
	stop     chan struct{}

	mu       sync.RWMutex
	poppable sync.Cond // there may be a pod to pop, or the queue is closed
	machine  *queue.Queue
	closed   bool
	failures failures
	untold   []news
	telling  bool // a goroutine is at the Observer
}

// Option configures a Queue.
type Option func(*config)

type config struct {
	clock    clock.WithTicker
	plugins  queue.Plugins
	observer queue.Observer
	log      queue.Observer
}

// WithClock sets the clock that backoffs are measured by and that Run waits on: by default the real one.
func WithClock(c clock.WithTicker) Option { return func(o *config) { o.clock = c } }

// WithPlugins sets what the queue asks of the scheduling framework: by default queue.EveryEvent. The
// plugins are asked while the queue is locked, one call at a time, and must not call it.
func WithPlugins(p queue.Plugins) Option { return func(o *config) { o.plugins = p } }

// WithObserver sets who is told of every move and every failure, in the order in which they happen, one
// call at a time, while the queue is not locked: an Observer may call the queue, though it must not wait
// for a pod in Pop, nor for another move to be told.
//
// A method returns after the Observer was told what it did, unless the Observer is being told something at
// that moment, by another goroutine or because it made the call itself: then the method does not wait, and
// the Observer is told by another goroutine, soon. What it was not yet told is kept in memory, so one that
// is slower than the queue should hand its work on.
func WithObserver(o queue.Observer) Option { return func(c *config) { c.observer = o } }

// WithLog sets who writes down every move and every failure at once, while the queue is locked, as upstream logs them: what is
// written of a pod's move stands before all that others write because of it. It must be quick, and must not call the queue.
func WithLog(o queue.Observer) Option { return func(c *config) { c.log = o } }

// New returns an empty queue. Nobody moves pods out of backoffQ, or those left over as unschedulable, until
// Run is called.
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
	q.poppable.L = &q.mu
	q.machine = queue.New(opts, c.plugins, recorder{q})
	return q
}

// withMachine calls the machine under the lock and tells the Observer afterwards. It returns the error of act, or
// what failed in the machine meanwhile.
func (q *Queue) withMachine(act func(now time.Time) error) error {
	told, err := q.locked(act)
	q.tellObserver(told)
	return err
}

// locked calls act under the lock, wakes Pop if there is something for it, and returns what the caller is
// to tell the Observer.
func (q *Queue) locked(act func(now time.Time) error) ([]news, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failures = failures{}
	err := act(q.clock.Now())
	if err == nil {
		err = q.failures.error()
	}
	if q.machine.CanPop() {
		q.poppable.Broadcast()
	}
	return q.claimUntold(), err
}

// Add puts a new pod into activeQ, or among the gated pods if a PreEnqueue plugin says so.
func (q *Queue) Add(pod *v1.Pod) error {
	if err := present("Add", pod); err != nil {
		return err
	}
	return q.withMachine(func(now time.Time) error {
		q.machine.Add(now, pod)
		return nil
	})
}

// Pop takes the pod at the head of activeQ, and with PopFromBackoffQ, if there is none, the one at the head
// of backoffQ. If there is none either, it blocks until there is one or the queue is closed: then it returns
// ErrClosed. Pods that are still ready when the queue is closed are popped first.
//
// The pod is in flight until Done, Bound or AddUnschedulableIfNotPresent. A pod that is dropped because an
// older attempt at it still runs is told to the Observer alone.
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

// AddUnschedulableIfNotPresent returns a popped pod to the queue after its attempt failed: to the
// unschedulable pods, or to backoffQ or activeQ if something that happened during the attempt may have
// helped. The Pod of info is its newest object, and UnschedulablePlugins and PendingPlugins are the plugins
// that rejected it: none if the attempt ended in an error. Nothing else of info is read.
//
// The second parameter is upstream's podSchedulingCycle, SchedulingCycle as it was at the pop. The queue
// remembers what it needs of that by itself.
//
// It fails if a pod of that name is already queued, in which case the attempt has ended; and if the pod was
// never popped, or a queueing hint failed, in which cases the pod is queued.
func (q *Queue) AddUnschedulableIfNotPresent(info *queue.PodInfo, _ int64) error {
	if info == nil {
		return errors.New("AddUnschedulableIfNotPresent: there is no pod: give it what Pop returned")
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

// Done ends the attempt at the popped pod with that UID, which does not return to the queue. It must be
// called for every popped pod that is not given to AddUnschedulableIfNotPresent; unknown UIDs are ignored.
func (q *Queue) Done(uid types.UID) {
	_ = q.withMachine(func(now time.Time) error {
		q.machine.Done(now, uid)
		return nil
	})
}

// Bound is Done for a pod that was bound to its node: the Observer is told that it was scheduled.
func (q *Queue) Bound(uid types.UID) {
	_ = q.withMachine(func(now time.Time) error {
		q.machine.Bound(now, uid)
		return nil
	})
}

// Delete takes a pod out of the queue, because it was deleted or was seen to have a node. A pod in flight
// stays so until its attempt ends. Unknown pods are ignored.
func (q *Queue) Delete(pod *v1.Pod) error {
	if err := present("Delete", pod); err != nil {
		return err
	}
	return q.withMachine(func(now time.Time) error {
		q.machine.Delete(now, pod)
		return nil
	})
}

// SchedulingCycle counts the pods popped so far.
func (q *Queue) SchedulingCycle() int64 {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.machine.SchedulingCycle()
}

// Close ends Pop, once no pod is ready any more, and what Run started. It does not wait for them, and may
// be called from anywhere, more than once. Everything else goes on working.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	close(q.stop)
	q.poppable.Broadcast()
}

// Closed returns a channel that is closed by Close.
func (q *Queue) Closed() <-chan struct{} { return q.stop }

// present returns an error of method unless there is a pod.
func present(method string, pod *v1.Pod) error {
	if pod == nil {
		return fmt.Errorf("%s: there is no pod", method)
	}
	return nil
}

// PopEntity is Pop for a queue with pod groups: what it returns is a pod, or a pod group whose pods are all in flight. A
// group's attempt ends with AddAttemptedPodGroupIfNeeded, before the next pop. The plugins that rejected the last attempt are
// still named.
func (q *Queue) PopEntity() (queue.Entity, error) {
	for {
		entity, told, err := q.popEntity()
		q.tellObserver(told)
		if entity.Pod.Pod != nil || entity.Group != nil || err != nil {
			return entity, err
		}
	}
}

// popEntity waits for a pod or a group and pops it. It returns none if all that were ready had to be dropped.
func (q *Queue) popEntity() (queue.Entity, []news, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && !q.machine.CanPop() {
		q.poppable.Wait()
	}
	entity, ok := q.machine.PopEntity(q.clock.Now())
	if !ok && q.closed {
		return queue.Entity{}, q.claimUntold(), ErrClosed
	}
	return entity, q.claimUntold(), nil
}
