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

// InspectOptions says which cycle is run.
type InspectOptions struct {
	cycle.InspectOptions
	// Change is what is changed before.
	Change explain.Change
}

// Inspect runs a scheduling cycle of a pod at the time shown: see Frame.Cycle. For a pod that is bound or in flight, that
// is the attempt that bound it, or that is under way, over the objects at its beginning.
func (s *Session) Inspect(pod types.NamespacedName, opts InspectOptions) {
	s.do(func(o *owner) { o.inspect(pod, opts) })
}

// inspect runs the pod's cycle for the frame.
func (o *owner) inspect(key types.NamespacedName, opts InspectOptions) {
	o.cycleOf, o.changed = o.shownTimeline(), true
	c, err := o.findCycle(key, opts)
	if c != nil {
		c.Change = opts.Change
	}
	if err != nil {
		c = &explain.Cycle{Key: key, Pod: sources.Sanitize(key.String()), Time: o.now.UTC(), Unknown: err.Error()}
	}
	o.cycle = c
}

// findCycle runs the pod's cycle.
func (o *owner) findCycle(key types.NamespacedName, opts InspectOptions) (*explain.Cycle, error) {
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
	c, err := o.cycleOfAttempt(t, popped, opts)
	if err != nil {
		return nil, err
	}
	c.Attempt = popped.AttemptCount()
	if bound != nil && bound.Pod.Node != "" {
		c.CompareWith(bound.Pod.Node, bound.Time)
	}
	return c, nil
}

// cycleNow runs a cycle of a pod that waits, over the objects at the time shown.
func (o *owner) cycleNow(key types.NamespacedName, opts InspectOptions) (*explain.Cycle, error) {
	e, err := o.engineShown()
	if err != nil {
		return nil, err
	}
	return o.cycleOver(e, key, o.now, opts)
}

// cycleOver runs a cycle of a pod over the objects of e.
func (o *owner) cycleOver(e *timeline.Engine, key types.NamespacedName, at time.Time, opts InspectOptions) (c *explain.Cycle, err error) {
	pod := e.Objects.Pod(key)
	switch {
	case e.Objects.Count("Node") == 0:
		return nil, o.errNoNodes()
	case pod == nil:
		return nil, errNoObject
	}
	use := func(sched *cycle.Scheduler) error {
		c, err = explain.FindCycle(sched, e.Queue, pod, at, opts.InspectOptions)
		return err
	}
	if !opts.Change.None() {
		err = o.withChange(e, opts.Change, use)
		return c, err
	}
	if e.Driver != nil && e.Driver.Scheduler != nil {
		return c, use(e.Driver.Scheduler)
	}
	err = o.spare.Borrow(e, use)
	return c, err
}

// withChange calls use with a scheduler of e's moment after a change.
func (o *owner) withChange(e *timeline.Engine, change explain.Change, use func(*cycle.Scheduler) error) error {
	cfg, objects, err := change.Apply(e.Config, e.Objects)
	if err != nil {
		return err
	}
	return timeline.With(cfg, objects, use)
}

// cycleOfAttempt runs the attempt again that popped is the first move of.
func (o *owner) cycleOfAttempt(t *timeline.Timeline, popped *board.Transition, opts InspectOptions) (*explain.Cycle, error) {
	key := popped.Pod.Key
	if t.Forked != nil && popped.Seq >= t.Forked.History.MoveCount() {
		return o.cycleInFork(t, popped, opts)
	}
	e := o.recording.EngineBefore(popped)
	if e == nil {
		return nil, errEngineDropped
	}
	c, err := o.cycleOver(e, key, popped.Time, opts)
	if err != nil {
		return nil, err
	}
	c.Provenance = explain.Rerun
	if o.rec.Rerun {
		c.Provenance = explain.Modelled
	}
	return c, nil
}

// cycleInFork runs an attempt in a what-if again: right before the local scheduler does, if it was its attempt.
func (o *owner) cycleInFork(t *timeline.Timeline, popped *board.Transition, opts InspectOptions) (c *explain.Cycle, err error) {
	if !opts.Change.None() {
		return nil, errChangeInFork
	}
	t.WatchAttempts(popped.Time, func(sched *cycle.Scheduler, info *queue.PodInfo) {
		if c == nil && info.Pod.UID == popped.Pod.Object().UID && info.Attempts == popped.Attempts {
			c, err = explain.InspectWith(sched, info.Pod, popped.Time, opts.InspectOptions)
		}
	})
	if err != nil || c != nil {
		return c, err
	}
	return nil, errDecidedByHand
}

var (
	errNoAttempt     = errors.New("its attempt is not among the moves known")
	errChangeInFork  = errors.New("this attempt is part of a what-if: undo, make the change, and let the scheduler run again")
	errDecidedByHand = errors.New("you made this attempt yourself: start a local scheduler to have it decide")
)
