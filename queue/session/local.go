package session

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
	"github.com/schedq/schedq/sources"
)

// local is a kube-scheduler run here over the objects of a recording: what a shadow and a rerun have in common. It hands
// on events, a source's and its own.
type local struct {
	cfg     *cycle.Config
	objects objects
	emit    func(sources.Event)

	driver *driver   // nil before the scheduler starts
	heard  []heard   // what the scheduler has yet to hear, in order
	told   unsettled // by its queue, since the last settled
}

// heard is a change of an object on its way to the scheduler.
type heard struct {
	at     time.Time
	change *sources.ObjectChange
}

func newLocal(cfg *cycle.Config, emit func(sources.Event)) local {
	return local{cfg: cfg, objects: newObjects(), emit: emit}
}

// load begins, or begins anew, with a scheduler that knows the objects there are, and whose queue is empty. It returns the
// pods that are for it to place, but for those that it could not take, which are left out as those that come later are.
func (l *local) load(now time.Time, settled func(time.Time, *cycle.Attempt)) (iter.Seq[*v1.Pod], error) {
	l.close()
	l.heard = nil
	sched, err := cycle.New(l.cfg, 0)
	if err != nil {
		return nil, err
	}
	left := map[*v1.Pod]bool{}
	l.objects.each("", func(obj runtime.Object) bool {
		if pod, ok := obj.(*v1.Pod); sched.Load(obj) != nil && ok {
			left[pod] = true
		}
		return true
	})
	q := queue.New(l.cfg.Queue, sched.Plugins(), &l.told)
	l.driver = newDriver(l.cfg, sched, q, newTicks(l.cfg.Queue, now), now, settled)
	l.objects.each("PodGroup", func(obj runtime.Object) bool {
		q.AddPodGroup(now, obj.(*schedulingv1beta1.PodGroup))
		return true
	})
	return func(yield func(*v1.Pod) bool) {
		l.objects.each("Pod", func(obj runtime.Object) bool {
			pod := obj.(*v1.Pod)
			return !waiting(pod) || !sched.Responsible(pod) || left[pod] || yield(pod)
		})
	}, nil
}

// close ends the scheduler, if there is one.
func (l *local) close() {
	if l.driver != nil {
		l.driver.sched.Close()
		l.driver = nil
	}
}

// keep makes c so in the objects there are.
func (l *local) keep(c *sources.ObjectChange) {
	if c.Verb == sources.Deleted {
		l.objects.remove(c.Object)
	} else {
		l.objects.put(c.Object)
	}
}

// send has the scheduler hear of c, which became so at now, by its watch.
func (l *local) send(now time.Time, c *sources.ObjectChange) {
	l.heard = append(l.heard, heard{now.Add(watchDelay), c})
}

// put lets the scheduler hear of c. An object that it can't take is left out.
func (l *local) put(now time.Time, c *sources.ObjectChange) {
	if c.Verb == sources.Deleted {
		_ = l.driver.sched.Remove(now, c.Object)
	} else {
		_ = l.driver.sched.Put(now, c.Object)
	}
}

// move returns what a transition is to those who only follow: t, which the end of attempt a caused unless that is nil.
func (l *local) move(now time.Time, t queue.Transition, a *cycle.Attempt) *modelledMove {
	m := &modelledMove{observed: t.Observed, Move: &sources.Move{
		Pod: types.NamespacedName{Namespace: t.Pod.Namespace, Name: t.Pod.Name}, To: sources.Tier(t.To.String()),
		Event: t.Event, GatingPlugin: t.GatingPlugin,
	}}
	if t.To == queue.Backoff && grouped(l.cfg.Queue, t.Pod) {
		m.expiry = t.BackoffExpiry
	}
	if t.Event == queue.ScheduleAttemptFailure {
		m.Plugins = append(slices.Clone(t.UnschedulablePlugins), t.PendingPlugins...)
		if a != nil && a.Pod.UID == t.Pod.UID {
			m.verdict = newVerdict(l.driver.began, now, a)
			m.Message, m.Node = sources.Sanitize(a.Message), a.Nominated
		}
	}
	return m
}

// modelledMove is a move that no source told: a local scheduler made it.
type modelledMove struct {
	*sources.Move
	// observed is true if the source showed at least that this happened: a binding, a condition.
	observed bool
	// verdict is what an attempt came to that is behind the move, or nil.
	verdict *Verdict
	// expiry is when the backoff ends of a pod that is queued with its group. Else it is worked out.
	expiry time.Time
	// estimate is where the pod is thought to have been before the source came, or nil.
	estimate *guess
}
