package session

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
)

// findNeeds computes what p needs at the time shown.
func (o *owner) findNeeds(p *board.Pod) (*explain.Needs, error) {
	e, err := o.engineShown()
	if err != nil {
		return nil, err
	}
	pod := e.Objects.Pod(p.Key)
	noNodes := e.Objects.Count("Node") == 0
	switch {
	case noNodes && (o.rec.Live() || !cluster.HasNodes(o.rec.Events)):
		return nil, o.errNoNodes()
	case pod == nil:
		return nil, errNoObject
	}
	var n *explain.Needs
	if e.Driver != nil && e.Driver.Scheduler != nil {
		return explain.FindNeeds(e.Driver.Scheduler, e.Objects, e.Queue, pod, o.now, explain.NearestShown)
	}
	err = o.spare.Borrow(e, func(sched *cycle.Scheduler) error {
		n, err = explain.FindNeeds(sched, e.Objects, e.Queue, pod, o.now, explain.NearestShown)
		return err
	})
	return n, err
}

// errNoNodes returns why there are no nodes to compute with.
func (o *owner) errNoNodes() error {
	if o.rec.Live() {
		return errNoNodesRead
	}
	return errNoNodes
}

// engineShown returns the engine in its state at the time shown.
func (o *owner) engineShown() (*timeline.Engine, error) {
	t := o.shownTimeline()
	switch cursor := t.Cursor; {
	case t.EngineIsAt(o.now):
		return t.Engine, nil
	case t.Forked != nil:
		return nil, errMomentPassed
	case !t.HasEngine():
		return nil, errEngineDropped
	default:
		e := t.EngineShown(o.now)
		t.SetCursor(cursor)
		return e, nil
	}
}

// survey adds the cluster at the time shown to frames.
func (o *owner) survey() {
	o.cluster, o.changed = &explain.Cluster{At: o.now}, true
	switch e, err := o.engineShown(); {
	case err != nil:
		o.cluster.Unknown = err.Error()
	case e.Objects.Count("Node") == 0:
		o.cluster.Unknown = o.errNoNodes().Error()
	default:
		e = e.Clone()
		o.cluster = explain.NewCluster(o.now, e.Config, e.Objects, e.Queue)
	}
}

// diagnose computes the pod's needs for the frame, unless quick is set and the cluster is too large to load. A
// pod that is not in the queue needs nothing.
func (o *owner) diagnose(key types.NamespacedName, quick bool) {
	o.needs, o.needsOf, o.changed = nil, o.shownTimeline(), true
	if quick && o.spare.Ready == nil && o.needsOf.Engine.Objects.Tree.Len() > quickObjects {
		return
	}
	p := o.needsOf.Shown.Get(key)
	if p == nil || !p.Tier.Queued() && p.Tier != queue.InFlight {
		return
	}
	n, err := o.findNeeds(p)
	if err != nil {
		n = &explain.Needs{Pod: key, At: o.now, Unknown: err.Error()}
	}
	o.needs = n
}

// quickObjects is the number of objects that a scheduler loads in about half a second.
const quickObjects = 10_000

var (
	errNoNodes       = errors.New("this recording contains no nodes; an audit log would")
	errNoNodesRead   = errors.New("you may not read nodes, or the cluster has none: schedq doctor shows which")
	errMomentPassed  = errors.New("only known at the end of the what-if")
	errEngineDropped = errors.New("this part of the history keeps moves only; start a what-if to replay it")
	errNoObject      = errors.New("this recording does not contain the pod's object; an audit log or a seed would")
)

// findSiblings adds the siblings of a pod at the time shown to frames.
func (o *owner) findSiblings(key types.NamespacedName) {
	objects := cluster.NewObjects()
	if e, err := o.engineShown(); err == nil {
		objects = e.Objects
	}
	o.siblings, o.changed = &explain.Siblings{Of: key, At: o.now}, true
	shown := o.shownTimeline().Shown
	if p := shown.Get(key); p != nil {
		o.siblings = explain.FindSiblings(shown, objects, p, o.now)
	}
}
