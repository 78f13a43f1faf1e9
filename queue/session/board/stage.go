package board

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Stage is the progress of a pod in flight with a local scheduler. Name is "schedule" in upstream's
// scheduling cycle and "bind" in its binding cycle. No in-tree plugin makes a pod wait at Permit.
type Stage struct {
	Pod  types.NamespacedName
	Name string
	// Node is the node that was chosen, once it was.
	Node         string
	Since, Until time.Time
}
