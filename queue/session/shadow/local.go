package shadow

import (
	"iter"
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// local is a kube-scheduler that runs here over the objects of a recording. A shadow and a rerun
// share it. It emits the source's events and its own.
type local struct {
	cfg     *schedulerconfig.Config
	objects cluster.Objects
	emit    func(sources.Event)

	driver     *Driver       // nil before the scheduler starts
	stopped    func() bool   // see Feed.EndWith
	deliveries deliveries    // changes not yet delivered to the scheduler, in order
	pending    pendingMoves  // moves of its queue that are not emitted yet
	clockAhead time.Duration // latest known value
}

func newLocal(cfg *schedulerconfig.Config, emit func(sources.Event)) local {
	return local{cfg: cfg, objects: cluster.NewObjects(), emit: emit}
}

// load starts, or restarts, with a scheduler that knows the current objects and an empty queue. It
// returns the pods that wait for this scheduler, except pods that the scheduler could not load;
// later pods of that kind are left out, too. It fails if no scheduler can be set up.
func (l *local) load(now time.Time, settled func(time.Time, *cycle.Attempt)) (iter.Seq[*v1.Pod], error) {
	l.close()
	l.deliveries = nil
	sched, err := cycle.New(l.cfg, 0)
	if err != nil {
		return nil, err
	}
	left := map[*v1.Pod]bool{}
	l.objects.Each("", func(obj runtime.Object) bool {
		if pod, ok := obj.(*v1.Pod); sched.Load(obj) != nil && ok {
			left[pod] = true
		}
		return true
	})
	opts := l.cfg.Queue
	opts.ClockAhead = l.clockAhead
	q := queue.New(opts, sched.Plugins(), &l.pending)
	l.driver = NewDriver(l.cfg, sched, q, queue.NewTicks(opts, now), now, settled)
	l.driver.stopped = l.stopped
	l.objects.Each("PodGroup", func(obj runtime.Object) bool {
		q.AddPodGroup(now, obj.(*schedulingv1beta1.PodGroup))
		return true
	})
	return func(yield func(*v1.Pod) bool) {
		l.objects.Each("Pod", func(obj runtime.Object) bool {
			pod := obj.(*v1.Pod)
			return !cluster.Waiting(pod) || !sched.Responsible(pod) || left[pod] || yield(pod)
		})
	}, nil
}

// close stops the scheduler, if there is one.
func (l *local) close() {
	if l.driver != nil {
		l.driver.Scheduler.Close()
		l.driver = nil
	}
}

// deliver passes c to the scheduler. Objects that the scheduler rejects are ignored.
func (l *local) deliver(now time.Time, c *sources.ObjectChange) {
	if c.Verb == sources.Deleted {
		_ = l.driver.Scheduler.Remove(now, c.Object)
	} else {
		_ = l.driver.Scheduler.Put(now, c.Object)
	}
}

// move converts transition t to a Move. a is the attempt whose end caused it, or nil.
func (l *local) move(now time.Time, t queue.Transition, a *cycle.Attempt) *Move {
	m := &Move{Observed: t.Observed, Move: &sources.Move{
		Pod: types.NamespacedName{Namespace: t.Pod.Namespace, Name: t.Pod.Name}, To: sources.Tier(t.To.String()),
		Event: t.Event, GatingPlugin: t.GatingPlugin,
	}}
	if t.To == queue.Backoff && cluster.Grouped(l.cfg.Queue, t.Pod) {
		m.Expiry = t.BackoffExpiry
	}
	if t.Event == queue.ScheduleAttemptFailure {
		m.Plugins = append(slices.Clone(t.UnschedulablePlugins), t.PendingPlugins...)
		if a != nil && a.Pod.UID == t.Pod.UID {
			m.Verdict = verdict.New(l.driver.AttemptBegan, now, a)
			m.Message, m.Node = sources.Sanitize(a.Message), a.Nominated
		}
	}
	return m
}

// Attached marks the time of attaching: the moves at that time are of pods that existed before.
type Attached struct{ *sources.Attached }

// Move is a move that the source does not contain: a local scheduler made it.
type Move struct {
	*sources.Move
	// Observed is true if the source at least shows that the move happened, by a binding or a
	// condition.
	Observed bool
	// Verdict is the outcome of the attempt behind the move, or nil.
	Verdict *verdict.Verdict
	// Because is the cause of the move. It is nil if nothing corrects the model.
	Because *reason.Cause
	// Expiry is when the backoff ends, for a pod that is queued with its group. For other pods it
	// is computed.
	Expiry time.Time
	// Estimate is the estimated state of the pod before the source attached, or nil.
	Estimate *Estimate
}

// deliveries are changes of objects that a scheduler has not received yet, in order of delivery.
type deliveries []delivery

// delivery is a change of an object and the time at which the scheduler receives it.
type delivery struct {
	At     time.Time
	Change *sources.ObjectChange
}

// Add queues c, a change at now. The delivery time is the one in the scheduler's log if known,
// otherwise now plus delay. It is not before an earlier delivery unless c may overtake that one.
func (d *deliveries) Add(now time.Time, delay time.Duration, c *sources.ObjectChange) {
	at := now.Add(delay)
	switch {
	case c.Delivered.After(now):
		at = c.Delivered
	case !c.Delivered.IsZero():
		at = now
	}
	i := len(*d)
	for i > 0 && at.Before((*d)[i-1].At) && overtakes(c, (*d)[i-1].Change) {
		i--
	}
	if i > 0 && at.Before((*d)[i-1].At) {
		at = (*d)[i-1].At
	}
	*d = slices.Insert(*d, i, delivery{At: at, Change: c})
}

// overtakes reports whether a scheduler may receive c before other, which the source reported
// first. Each kind has its own watch. A watch delivers changes in order, and the scheduler's log is
// the best source for that order.
func overtakes(c, other *sources.ObjectChange) bool {
	if reflect.TypeOf(c.Object) != reflect.TypeOf(other.Object) {
		return true
	}
	return !c.Delivered.IsZero() && !other.Delivered.IsZero() && c.Object.(metav1.Object).GetUID() != other.Object.(metav1.Object).GetUID()
}
