package session

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
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
