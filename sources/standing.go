package sources

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// recentFor is how long every event counts: playback looks no further ahead.
const recentFor = time.Minute

// Standing estimates the memory that playback of a recording takes that is not kept: for the existing objects and pods,
// and for the events of the last minute.
type Standing struct {
	keep   func(bytes int)
	there  map[objectKey]int // bytes
	recent []recentEvent
}

// objectKey identifies an object, or with an empty kind a pod of which only moves are recorded.
type objectKey struct{ kind, namespace, name string }

// recentEvent is the memory of an event of the last minute besides that of existing objects.
type recentEvent struct {
	at    time.Time
	bytes int
}

// NewStanding returns a Standing without events. It calls keep with each change of the number of bytes, up or down.
func NewStanding(keep func(bytes int)) *Standing {
	return &Standing{keep: keep, there: map[objectKey]int{}}
}

// Add adds an event that takes that many bytes.
func (s *Standing) Add(ev Event, bytes int) {
	past := 0
	for past < len(s.recent) && ev.Time.Sub(s.recent[past].at) > recentFor {
		s.keep(-s.recent[past].bytes)
		past++
	}
	s.recent = s.recent[past:]
	s.keep(bytes)
	switch f := ev.Fact.(type) {
	case *ObjectChange:
		if meta, is := f.Object.(metav1.Object); is {
			of := objectKey{f.Object.GetObjectKind().GroupVersionKind().Kind, meta.GetNamespace(), meta.GetName()}
			bytes = s.replace(of, bytes, f.Verb == Deleted)
			if of.kind == "Pod" && f.Verb == Deleted { // it no longer waits, with or without a recorded move
				bytes += s.replace(objectKey{"", of.namespace, of.name}, 0, true)
			}
		}
	case *Move:
		bytes = s.replace(objectKey{"", f.Pod.Namespace, f.Pod.Name}, bytes, f.To == TierScheduled || f.To == TierDeleted)
	}
	s.recent = append(s.recent, recentEvent{ev.Time, bytes})
}

// replace sets the bytes of an object, or removes it if it is gone, and returns the bytes that no existing object takes.
func (s *Standing) replace(of objectKey, bytes int, gone bool) int {
	was := s.there[of]
	if gone {
		delete(s.there, of)
		return was + bytes
	}
	s.there[of] = bytes
	return was
}
