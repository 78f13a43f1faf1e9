package session

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
)

// findNeeds works out what p needs at the moment shown.
func (o *owner) findNeeds(p *board.Pod) (*explain.Needs, error) {
	e, err := o.engineThen()
	if err != nil {
		return nil, err
	}
	pod := e.Objects.Pod(p.Key)
	noNodes := e.Objects.Count("Node") == 0
	switch {
	case noNodes && o.live != nil:
		return nil, errNoNodesRead
	case noNodes && !cluster.TellsNodes(o.rec.Tells()):
		return nil, errNoNodes
	case pod == nil:
		return nil, errNoObject
	}
	return explain.FindNeeds(e.Config, e.Objects, e.Queue, pod, o.now, explain.NearestTold)
}

// engineThen returns the engine as it is at the moment shown.
func (o *owner) engineThen() (*timeline.Engine, error) {
	t := o.shownLine()
	switch cursor := t.Cursor; {
	case cursor == t.ChangeCount():
		return t.Engine, nil
	case t.Forked != nil:
		return nil, errGoneBy
	case !t.HasEngine():
		return nil, errNotKept
	default:
		e := t.EngineShown()
		t.SetCursor(cursor)
		return e, nil
	}
}

// survey has frames tell of the cluster at the moment shown.
func (o *owner) survey() {
	o.cluster, o.changed = &explain.Cluster{At: o.now}, true
	switch e, err := o.engineThen(); {
	case err != nil:
		o.cluster.Unknown = err.Error()
	case e.Objects.Count("Node") == 0:
		o.cluster.Unknown = errNoNodes.Error()
	default:
		e = e.Clone()
		o.cluster = explain.NewCluster(o.now, e.Config, e.Objects, e.Queue)
	}
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
	errNotKept     = errors.New("of that long ago only what is seen is kept; a what-if has it played anew")
	errNoObject    = errors.New("the pod's object is not in this recording; an audit log would tell")
)
