package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
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
	if err != nil {
		c = &explain.Cycle{Key: key, Pod: sources.Sanitize(key.String()), Time: o.now.UTC(), Unknown: err.Error()}
	}
	o.cycle = c
}

// findCycle runs the pod's cycle.
func (o *owner) findCycle(key types.NamespacedName, opts InspectOptions) (c *explain.Cycle, err error) {
	t := o.shownTimeline()
	var popped, bound *board.Transition
	if p := t.Shown.Get(key); p != nil {
		popped, bound = timeline.AttemptOf(p)
	}
	switch {
	case popped == nil:
		c, err = o.cycleNow(key, opts)
	case t.Forked != nil && popped.Seq >= t.Forked.History.MoveCount():
		if c, err = o.cycleInFork(t, popped, bound, opts); err == nil {
			c.Turn = turnOf(t, popped)
		}
	default:
		if c, err = o.cycleAgain(popped, bound, opts); err == nil {
			c.Turn = turnOf(o.recording, popped)
		}
	}
	if err == nil {
		o.addNotes(c, popped)
	}
	return c, err
}

// turnOf returns how the pod's turn came that popped ended, or nil if the queue of that moment is not kept.
func turnOf(t *timeline.Timeline, popped *board.Transition) *explain.Turn {
	if _, first := t.Kept(); popped.Change < first {
		return nil
	}
	cursor := t.Cursor
	defer func() { t.SetCursor(cursor) }()
	t.SetCursor(popped.Change + 1)
	return explain.NewTurn(popped, t.MovesFrom(0), t.Shown.Total(popped.From))
}

// cycleNow runs a cycle of a pod over the objects at the time shown. A bound pod is taken off its node first.
func (o *owner) cycleNow(key types.NamespacedName, opts InspectOptions) (*explain.Cycle, error) {
	e, err := o.engineShown()
	if err != nil {
		return nil, err
	}
	pod := e.Objects.Pod(key)
	if pod == nil || pod.Spec.NodeName == "" {
		return o.cycleOver(e, key, o.now, opts)
	}
	e = e.Clone()
	e.Objects.Put(cluster.Unbound(pod))
	opts.Chosen = pod.Spec.NodeName
	c, err := o.cycleOver(e, key, o.now, opts)
	if err != nil {
		return nil, err
	}
	c.CompareWith(pod.Spec.NodeName, time.Time{})
	if c.Actual.Match == explain.Different {
		c.Actual.Why = []string{"Its attempt is not recorded: this is what the scheduler would choose now."}
	}
	return c, nil
}

// cycleOver runs a cycle of a pod over the objects of e.
func (o *owner) cycleOver(e *timeline.Engine, key types.NamespacedName, at time.Time, opts InspectOptions) (c *explain.Cycle, err error) {
	pod := e.Objects.Pod(key)
	switch {
	case e.Objects.Count("Node") == 0:
		return nil, o.errNoNodes()
	case pod == nil:
		if p := e.Board.Get(key); p != nil && p.Tier == queue.Deleted {
			return nil, fmt.Errorf("the pod was deleted at %s; choose an earlier moment", o.zone.Precise(p.Since))
		}
		return nil, errNoObject
	}
	use := func(sched *cycle.Scheduler) error {
		c, err = explain.FindCycle(sched, e.Queue, pod, at, opts.InspectOptions)
		return err
	}
	cfg := e.Config
	defer func() {
		if c != nil {
			c.Change, c.Strategy = opts.Change, cfg.Strategy(pod.Spec.SchedulerName)
		}
	}()
	if !opts.Change.None() {
		var objects cluster.Objects
		if cfg, objects, err = opts.Change.Apply(e.Config, e.Objects); err != nil {
			return nil, err
		}
		err = timeline.With(cfg, objects, use)
		return c, err
	}
	if e.Driver != nil && e.Driver.Scheduler != nil {
		return c, use(e.Driver.Scheduler)
	}
	err = o.spare.Borrow(e, use)
	return c, err
}

// addNotes says what a cycle is based on.
func (o *owner) addNotes(c *explain.Cycle, popped *board.Transition) {
	note := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	newest, release := queue.Releases()[0], o.release()
	switch c.Provenance {
	case explain.Rerun:
		note("kube-scheduler %s's own plugins ran again over the objects known of %s. Nothing was bound or evicted.", newest, o.zone.Precise(c.Time))
	case explain.Hypothetical:
		note("This attempt is hypothetical: kube-scheduler %s's own plugins ran over the objects of %s.", newest, o.zone.Precise(c.Time))
	}
	if popped != nil && !c.Time.Equal(popped.Time.UTC()) {
		note("With these objects its node wins, and not with those of %s, when the attempt began by the log.", o.zone.Precise(popped.Time))
	}
	if release != newest {
		note("The scheduler is %s. Scores are those of %s's plugins, except for the differences in docs/reference/releases.md.", release, newest)
	}
	if o.assumesConfig && c.Provenance != explain.Modelled && !o.rec.Rerun {
		note("Profiles and plugins are kube-scheduler's defaults. If the scheduler has others, use --scheduler-config.")
	}
	switch f := c.Filter; {
	case c.Provenance == explain.Modelled || f.Evaluated >= f.Candidates || f.Nominated != "" && f.Evaluated == 1:
	case f.StartInferred:
		note("Where the scheduler began its search is unknown. This search begins at %s, so that its node has the highest score.", f.StartNode)
	default:
		note("Where the scheduler began its search is unknown. This search begins at %s and ends at %d feasible nodes.", f.StartNode, f.Enough)
	}
	if popped != nil && popped.Pod.Group != "" {
		note("The pod is scheduled with its group %s. This is a cycle of the pod alone.", sources.Sanitize(popped.Pod.Group))
	}
}

// release returns the release of the scheduler at the time shown, one of queue.Releases if it is known.
func (o *owner) release() string {
	e := o.shownTimeline().Engine
	return cmp.Or(e.Config.Release, queue.Releases()[0])
}

// earlier are how long before the modelled beginning of an attempt the scheduler may have begun it: it may have waited that long
// with the binding, to keep within its rate limit.
var earlier = []time.Duration{2 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond, 250 * time.Millisecond}

// cycleAgain runs an attempt again over the objects of the recording at its beginning. If the pod was bound to another node than
// that says, it tries the objects at the binding, which the scheduler may have received by then, and if the beginning is modelled,
// those of some earlier moments.
func (o *owner) cycleAgain(popped, bound *board.Transition, opts InspectOptions) (*explain.Cycle, error) {
	t := o.recording
	if !opts.Change.None() {
		as := opts
		as.Change = explain.Change{}
		c, err := o.cycleAgain(popped, bound, as)
		if err != nil {
			return nil, err
		}
		changes := t.ChangesBy(c.Time)
		switch {
		case c.Time.Equal(popped.Time):
			changes = popped.Change
		case bound != nil && c.Time.Equal(bound.Time):
			changes = bound.Change
		}
		return o.cycleAt(popped, bound, changes, c.Time, opts)
	}
	first, err := o.cycleAt(popped, bound, popped.Change, popped.Time, opts)
	if err != nil || !missed(first) {
		return first, err
	}
	if c, err := o.cycleAt(popped, bound, bound.Change, bound.Time, opts); err != nil || !missed(c) {
		return c, err
	}
	for i := 0; i < len(earlier) && !popped.Observed; i++ {
		at := popped.Time.Add(-earlier[i])
		if at.Before(popped.Pod.Arrived) || at.Before(t.Start) {
			break
		}
		if c, err := o.cycleAt(popped, bound, t.ChangesBy(at), at, opts); err == nil && !missed(c) {
			return c, nil
		}
	}
	o.explainMiss(first, popped, bound)
	return first, nil
}

// missed reports whether c chooses another node than the pod was bound to.
func missed(c *explain.Cycle) bool { return c.Actual != nil && c.Actual.Match == explain.Different }

// cycleAt runs an attempt over the objects of the recording after so many changes, at a moment.
func (o *owner) cycleAt(popped, bound *board.Transition, changes int, at time.Time, opts InspectOptions) (*explain.Cycle, error) {
	e := o.recording.EngineBefore(popped, bound, changes, at)
	if e == nil {
		return nil, errEngineDropped
	}
	if bound != nil && opts.Change.None() {
		opts.Chosen = bound.Pod.Node
	}
	c, err := o.cycleOver(e, popped.Pod.Key, at, opts)
	if err != nil {
		return nil, err
	}
	if c.Provenance = explain.Rerun; o.rec.Rerun {
		c.Provenance = explain.Modelled
	}
	c.SetAttempt(popped, bound)
	return c, nil
}

// changesShown limits the changes that may explain why the scheduler chose another node.
const changesShown = 3

// explainMiss says what the scheduler may have known when it chose another node than c does.
func (o *owner) explainMiss(c *explain.Cycle, popped, bound *board.Transition) {
	const around = 100 * time.Millisecond
	a := c.Actual
	if !popped.Observed {
		a.Why = append(a.Why, "The beginning of the attempt is modelled: the scheduler may have made it earlier, over other objects.")
	}
	var changes []string
	for at, change := range o.recording.ObjectChanges(popped.Time.Add(-around), bound.Time.Add(around)) {
		if what := changeOn(change, popped.Pod.Key, bound.Pod.Node, string(c.Node)); what != "" {
			changes = append(changes, what+" at "+o.zone.Precise(at))
		}
	}
	if more := len(changes) - changesShown; more > 0 {
		changes = append(changes[:changesShown], words.Plural(more, "more change"))
	}
	if len(changes) > 0 {
		a.Why = append(a.Why, "It may have learned of changes on these nodes earlier or later than their requests show: "+strings.Join(changes, "; ")+".")
	}
	if c.Filter.Evaluated < c.Filter.Candidates {
		a.Why = append(a.Why, fmt.Sprintf("The search ends at %d feasible nodes, and where the scheduler began it is unknown.", c.Filter.Enough))
	}
	if len(a.Why) == 0 {
		a.Why = append(a.Why, "The scheduler's configuration, or what it knew of the cluster, differs from what is known here.")
	}
}

// changeOn describes a change that frees or takes up room on one of the nodes, or changes the node. It is empty for other changes.
func changeOn(change *sources.ObjectChange, but types.NamespacedName, nodes ...string) string {
	on := func(node string) bool { return node != "" && slices.Contains(nodes, node) }
	switch obj := change.Object.(type) {
	case *v1.Pod:
		key := types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}
		if !on(obj.Spec.NodeName) || key == but {
			return ""
		}
		return fmt.Sprintf("pod %s on %s was %s", sources.Sanitize(key.String()), sources.Sanitize(obj.Spec.NodeName), verbOf(change.Verb))
	case *v1.Node:
		if on(obj.Name) {
			return fmt.Sprintf("node %s was %s", sources.Sanitize(obj.Name), verbOf(change.Verb))
		}
	}
	return ""
}

func verbOf(v sources.Verb) string {
	switch v {
	case sources.Added:
		return "added"
	case sources.Deleted:
		return "deleted"
	}
	return "changed"
}

// cycleInFork runs an attempt in a what-if again, right before its local scheduler makes it.
func (o *owner) cycleInFork(t *timeline.Timeline, popped, bound *board.Transition, opts InspectOptions) (c *explain.Cycle, err error) {
	if !opts.Change.None() {
		return nil, errChangeInFork
	}
	t.WatchAttempts(popped.Time, func(sched *cycle.Scheduler, info *queue.PodInfo) {
		if c != nil || err != nil || info.Pod.UID != popped.Pod.Object().UID || info.Attempts != popped.Attempts {
			return
		}
		if c, err = explain.InspectWith(sched, info.Pod, popped.Time, opts.InspectOptions); err == nil {
			c.Provenance = explain.Modelled
			c.SetAttempt(popped, bound)
		}
	})
	if c == nil && err == nil {
		err = errDecidedByHand
	}
	return c, err
}

var (
	errChangeInFork  = errors.New("this attempt is part of a what-if: undo, make the change, and let the scheduler run again")
	errDecidedByHand = errors.New("you made this attempt yourself: start a local scheduler to have it decide")
)
