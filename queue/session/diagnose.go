package session

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
)

// findNeeds works out what p needs at the moment shown.
func (o *owner) findNeeds(p *board.Pod) (*explain.Needs, error) {
	t := o.shownLine()
	e := t.Engine
	switch cursor := t.Cursor; {
	case cursor == len(t.Changes):
	case t.Forked != nil:
		return nil, errGoneBy
	default:
		e = t.EngineShown()
		t.SetCursor(cursor)
	}
	pod := e.Objects.Pod(p.Key)
	noNodes := e.Objects.Count("Node") == 0
	switch {
	case noNodes && o.live != nil:
		return nil, errNoNodesRead
	case noNodes && !slices.ContainsFunc(o.rec.Events, cluster.IsNode):
		return nil, errNoNodes
	case pod == nil:
		return nil, errNoObject
	}
	return explain.FindNeeds(o.cfg, e.Objects, e.Queue, pod, o.now)
}

// diagnose works out what the pod of that name needs, for the frame; if it must be quick, only where it is.
// A pod that is not in the queue needs nothing.
func (o *owner) diagnose(key types.NamespacedName, quick bool) {
	o.needs, o.needsOf, o.changed = nil, o.shownLine(), true
	if quick && o.needsOf.Engine.Objects.Tree.Len() > quickObjects {
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

// quickObjects is up to how many objects a scheduler takes in within half a second or so.
const quickObjects = 10_000

var (
	errNoNodes     = errors.New("no node is in this recording; an audit log would tell")
	errNoNodesRead = errors.New("no node is in the cluster, as far as you may read it")
	errGoneBy      = errors.New("this moment of the what-if is over, its end would tell")
	errNoObject    = errors.New("the pod's object is not in this recording; an audit log would tell")
)
