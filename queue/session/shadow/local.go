package shadow

import (
	"iter"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/flush"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// local is a kube-scheduler run here over the objects of a recording: what a shadow and a rerun have in common. It hands
// on events, a source's and its own.
type local struct {
	cfg     *schedulerconfig.Config
	objects cluster.Objects
	emit    func(sources.Event)
	// follows is true of a model that came to a scheduler at work: where none can be run here, what is seen of it is gone by.
	follows bool

	driver     *Driver       // nil before the scheduler starts
	stopped    func() bool   // see Feed.EndWith
	deliveries deliveries    // what the scheduler has yet to hear, in order
	unsettled  unsettled     // moves that its queue told and nobody handed on yet
	clockAhead time.Duration // the latest known
}

func newLocal(cfg *schedulerconfig.Config, emit func(sources.Event)) local {
	return local{cfg: cfg, objects: cluster.NewObjects(), emit: emit}
}

// load begins, or begins anew, with a scheduler that knows the objects there are and whose queue is empty. It returns
// the pods that wait for this scheduler. Those that it could not load are left out, as those that come later are. It
// fails if no scheduler can be set up.
func (l *local) load(now time.Time, settled func(time.Time, *cycle.Attempt)) (iter.Seq[*v1.Pod], error) {
	l.close()
	l.deliveries = nil
	sched, err := l.newScheduler()
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
	q := queue.New(opts, sched.Plugins(), &l.unsettled)
	l.driver = NewDriver(l.cfg, sched, q, flush.NewTicks(opts, now), now, settled)
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

// newScheduler returns a scheduler that knows no objects yet.
func (l *local) newScheduler() (*cycle.Scheduler, error) {
	if l.follows {
		return cycle.New(l.cfg, 0)
	}
	return cycle.New(l.cfg, 0)
}

// close ends the scheduler, if there is one.
func (l *local) close() {
	if l.driver != nil {
		l.driver.Scheduler.Close()
		l.driver = nil
	}
}

// deliver hands c to the scheduler. An object that it can't take is left out.
func (l *local) deliver(now time.Time, c *sources.ObjectChange) {
	if c.Verb == sources.Deleted {
		_ = l.driver.Scheduler.Remove(now, c.Object)
	} else {
		_ = l.driver.Scheduler.Put(now, c.Object)
	}
}

// move returns transition t as the move of an event. a is the attempt whose end caused it, or nil.
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

// Attached says that the moves at its time are those of pods that were there before the source.
type Attached struct{ *sources.Attached }

// Move is a move that no source told: a local scheduler made it.
type Move struct {
	*sources.Move
	// Observed is true if the source showed at least that this happened: a binding, a condition.
	Observed bool
	// Verdict is what an attempt came to that is behind the move, or nil.
	Verdict *verdict.Verdict
	// Because is why it was made. Nil if nobody corrects the model.
	Because *reason.Cause
	// Expiry is when the backoff ends of a pod that is queued with its group. Else it is worked out.
	Expiry time.Time
	// Estimate is where the pod is thought to have been before the source came, or nil.
	Estimate *Estimate
}
