package sources

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Attached says that the source came to a scheduler that was at work already: all objects told before
// were there before, and from here on their changes are told as they happen.
type Attached struct {
	// Began is when that scheduler began to work its queue: its flushes follow from then. Zero if not known.
	Began time.Time
	// Nodes is true if the source tells of every node: where it has told of none, there is none. Otherwise the nodes may not be
	// to be read.
	Nodes bool
}

// Tried says what is known of a pod's failed attempts from before the source came: at least so many, and
// the last of which anything is known.
type Tried struct {
	Pod types.NamespacedName
	UID types.UID
	// Attempts is how many failed attempts are known. There may have been more.
	Attempts int
	// First and Failed are when the first and the last of them failed. Zero if not known.
	First, Failed time.Time
	// Message is the scheduler's explanation of the last one.
	Message SafeText
	Recorded
}

func (*Attached) fact() {}
func (*Tried) fact()    {}
