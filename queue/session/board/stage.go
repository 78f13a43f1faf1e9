package board

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Stage is how far a pod in flight has come with a local scheduler. Name is "schedule" in upstream's scheduling cycle
// and "bind" in its binding cycle. No in-tree plugin makes a pod wait between the two, at Permit.
type Stage struct {
	Pod  types.NamespacedName
	Name string
	// Node is where the pod was placed, once it was.
	Node         string
	Since, Until time.Time
}
