package session

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// Inspect runs a scheduling cycle of a pod at the time shown: see Frame.Cycle. For a pod that is bound or in flight, that
// is the attempt that bound it, or that is under way, over the objects at its beginning.
func (s *Session) Inspect(pod types.NamespacedName, opts cycle.InspectOptions) {
	s.do(func(o *owner) { o.inspect(pod, opts) })
}

// inspect runs the pod's cycle for the frame.
func (o *owner) inspect(key types.NamespacedName, opts cycle.InspectOptions) {
	o.cycleOf, o.changed = o.shownTimeline(), true
	c, err := o.findCycle(key, opts)
	if err != nil {
		c = &explain.Cycle{Key: key, Pod: sources.Sanitize(key.String()), Time: o.now.UTC(), Unknown: err.Error()}
	}
	o.cycle = c
}

// findCycle runs the pod's cycle.
func (o *owner) findCycle(key types.NamespacedName, opts cycle.InspectOptions) (*explain.Cycle, error) {
	t := o.shownTimeline()
	p := t.Shown.Get(key)
	if p == nil {
		return o.cycleNow(key, opts)
	}
	popped, bound := timeline.AttemptOf(p)
	if popped == nil && bound != nil {
		return nil, errNoAttempt
	}
	if popped == nil {
		return o.cycleNow(key, opts)
	}
	if t.Forked != nil && popped.Seq >= t.Forked.History.MoveCount() {
		c, err := o.cycleInFork(t, popped, opts)
		if err == nil {
			c.SetAttempt(popped, bound)
		}
		return c, err
	}
	return o.cycleAgain(popped, bound, opts)
}

// cycleNow runs a cycle of a pod that waits, over the objects at the time shown.
func (o *owner) cycleNow(key types.NamespacedName, opts cycle.InspectOptions) (*explain.Cycle, error) {
	e, err := o.engineShown()
	if err != nil {
		return nil, err
	}
	return o.cycleOver(e, key, o.now, opts)
}

// cycleOver runs a cycle of a pod over the objects of e.
func (o *owner) cycleOver(e *timeline.Engine, key types.NamespacedName, at time.Time, opts cycle.InspectOptions) (c *explain.Cycle, err error) {
	pod := e.Objects.Pod(key)
	switch {
	case e.Objects.Count("Node") == 0:
		return nil, o.errNoNodes()
	case pod == nil:
		return nil, errNoObject
	}
	use := func(sched *cycle.Scheduler) error {
		c, err = explain.FindCycle(sched, e.Queue, pod, at, opts)
		return err
	}
	if e.Driver != nil && e.Driver.Scheduler != nil {
		return c, use(e.Driver.Scheduler)
	}
	err = o.spare.Borrow(e, use)
	return c, err
}

// cycleAgain runs an attempt again over the objects of the recording: those at its beginning, or if the pod was bound elsewhere than
// they say, those at its binding, which the scheduler may have received by then.
func (o *owner) cycleAgain(popped, bound *board.Transition, opts cycle.InspectOptions) (*explain.Cycle, error) {
	moments := []*board.Transition{popped}
	if bound != nil && bound.Pod.Node != "" {
		opts.Chosen = bound.Pod.Node
		moments = append(moments, bound)
	}
	var first *explain.Cycle
	for _, next := range moments {
		e := o.recording.EngineBefore(popped, next)
		if e == nil {
			return nil, errEngineDropped
		}
		c, err := o.cycleOver(e, popped.Pod.Key, next.Time, opts)
		if err != nil {
			return nil, err
		}
		if c.Provenance = explain.Rerun; o.rec.Rerun {
			c.Provenance = explain.Modelled
		}
		c.SetAttempt(popped, bound)
		if c.Actual == nil || c.Actual.Match != explain.Different {
			return c, nil
		}
		if first == nil {
			first = c
		}
	}
	return first, nil
}

// cycleInFork runs an attempt in a what-if again: right before the local scheduler does, if it was its attempt.
func (o *owner) cycleInFork(t *timeline.Timeline, popped *board.Transition, opts cycle.InspectOptions) (c *explain.Cycle, err error) {
	t.WatchAttempts(popped.Time, func(sched *cycle.Scheduler, info *queue.PodInfo) {
		if c == nil && err == nil && info.Pod.UID == popped.Pod.Object().UID && info.Attempts == popped.Attempts {
			if c, err = explain.InspectWith(sched, info.Pod, popped.Time, opts); err == nil {
				c.Provenance = explain.Modelled
			}
		}
	})
	if err != nil || c != nil {
		return c, err
	}
	return nil, errDecidedByHand
}

var (
	errNoAttempt     = errors.New("its attempt is not among the moves known")
	errDecidedByHand = errors.New("you made this attempt yourself: start a local scheduler to have it decide")
)
