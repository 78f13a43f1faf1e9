package timeline

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/flush"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// attach begins with a scheduler that has been at work since began, where the source tells its moves from now on:
// each pod that waits is put where it is likely to be, or, if nothing shows that it was tried, where a new pod goes.
// tried is what is known of attempts, by pod. A zero began is not known.
func (e *Engine) attach(now, began time.Time, tried map[types.UID]*sources.Tried) {
	e.attachedTo(now, began)
	g := shadow.Estimator{Opts: e.Queue.Options(), Tried: tried}
	e.Objects.Each("Pod", func(obj runtime.Object) bool {
		pod := obj.(*v1.Pod)
		if !cluster.Waiting(pod) {
			return true
		}
		if made, ok := g.Estimate(now, pod); ok && len(pod.Spec.SchedulingGates) == 0 {
			e.restore(now, &made)
			return true
		}
		m := &sources.Move{Pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, To: sources.TierActive, Event: cluster.UnscheduledPodAdd}
		if len(pod.Spec.SchedulingGates) > 0 {
			m.To, m.GatingPlugin = sources.TierGated, "SchedulingGates"
		}
		e.observe(now, m, &shadow.Move{Move: m})
		return true
	})
}

// attachedTo notes that the source came at now to a scheduler that began to work its queue at began. A zero began is not known.
func (e *Engine) attachedTo(now, began time.Time) {
	if e.attached = now; !began.IsZero() {
		e.Ticks = flush.NewTicks(e.Queue.Options(), began)
	}
}

// restore puts a pod where made says that it is likely to be.
func (e *Engine) restore(now time.Time, made *shadow.Estimate) {
	e.Queue.Restore(now, made.PodInfo)
	e.Settle(now, func(p *board.Pod) {
		p.Estimated, p.AttemptsAtLeast, p.Message = true, true, made.Message
		p.Since, p.FailedBy = made.Timestamp, now
	})
}

// arrival returns when pod came, which entered the queue at now. API servers keep the second of its creation: within that, now is the
// better answer.
func (e *Engine) arrival(now time.Time, pod *v1.Pod) time.Time {
	created := pod.CreationTimestamp.Add(e.createdAhead)
	if pod.CreationTimestamp.IsZero() || now.Sub(created) < time.Second {
		return now
	}
	return created.UTC()
}
