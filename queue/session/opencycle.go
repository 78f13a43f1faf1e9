package session

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/explain"
)

// Inspect runs the pod's scheduling cycle at the time shown, and for a pod that was bound by then that of the attempt
// that bound it: see Frame.Cycle.
func (s *Session) Inspect(pod types.NamespacedName, opts cycle.InspectOptions) {
	s.do(func(o *owner) { o.inspect(pod, opts) })
}

// inspect runs the pod's cycle for the frame.
func (o *owner) inspect(key types.NamespacedName, opts cycle.InspectOptions) {
	o.cycleOf, o.changed = o.shownTimeline(), true
	c, err := o.findCycle(key, opts)
	if err != nil {
		c = &explain.Cycle{Key: key, Time: o.now.UTC(), Unknown: err.Error()}
	}
	o.cycle = c
}

// findCycle runs the pod's cycle.
func (o *owner) findCycle(key types.NamespacedName, opts cycle.InspectOptions) (c *explain.Cycle, err error) {
	e, err := o.engineShown()
	if err != nil {
		return nil, err
	}
	pod := e.Objects.Pod(key)
	switch {
	case e.Objects.Count("Node") == 0:
		return nil, o.errNoNodes()
	case pod == nil:
		return nil, errNoObject
	}
	err = o.spare.Borrow(e, func(sched *cycle.Scheduler) error {
		c, err = explain.FindCycle(sched, e.Queue, pod, o.now, opts)
		return err
	})
	return c, err
}
