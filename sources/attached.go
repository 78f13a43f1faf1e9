package sources

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Attached says that the source attached to a running scheduler: all objects before it already existed, and from here
// on changes are reported as they happen.
type Attached struct {
	// Began is when that scheduler started its queue, which determines its flushes. Zero if unknown.
	Began time.Time
	// Nodes is true if the source reports every node. Otherwise nodes may exist that it can't read.
	Nodes bool
}

// Tried is what is known about a pod's failed attempts before the source attached: a lower bound of their number, and the
// last known one.
type Tried struct {
	Pod types.NamespacedName
	UID types.UID
	// Attempts is the number of known failed attempts. There may have been more.
	Attempts int
	// First and Failed are when the first and the last of them failed. Zero if unknown.
	First, Failed time.Time
	// Message is the scheduler's explanation of the last one.
	Message SafeText
	Recorded
}

func (*Attached) fact() {}
func (*Tried) fact()    {}
