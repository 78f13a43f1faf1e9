package session

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// attach does the same where the source itself tells the scheduler's moves: from then on.
func (e *engine) attach(now, began time.Time, tried map[types.UID]*sources.Tried) {
	if !began.IsZero() {
		e.ticks = newTicks(e.queue.Options(), began)
	}
	g := guesser{opts: e.queue.Options(), tried: tried}
	e.objects.each("Pod", func(obj runtime.Object) bool {
		pod := obj.(*v1.Pod)
		if !waiting(pod) {
			return true
		}
		if made, ok := g.guess(now, pod); ok && len(pod.Spec.SchedulingGates) == 0 {
			e.restore(now, &made)
			return true
		}
		m := &sources.Move{Pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, To: sources.TierActive, Event: unscheduledPodAdd}
		if len(pod.Spec.SchedulingGates) > 0 {
			m.To, m.GatingPlugin = sources.TierGated, "SchedulingGates"
		}
		e.observe(now, m, &modelledMove{Move: m})
		return true
	})
}

// restore puts a pod where it is thought to be.
func (e *engine) restore(now time.Time, made *guess) {
	e.queue.Restore(now, made.PodInfo)
	e.settle(now, func(p *Pod) { p.Estimated, p.Message = true, made.message })
}
