package sources

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lately is for how long what was told counts, whatever became of it: who plays a recording looks no further ahead.
const lately = time.Minute

// Standing counts about how many bytes of memory a recording that is not kept takes at a moment: for the objects and pods
// that are there, and for what else was told within the last minute.
type Standing struct {
	keep   func(bytes int)
	there  map[thing]int
	recent []share
}

// thing is an object, or a pod of which only its moves are told. Then its kind is empty.
type thing struct{ kind, namespace, name string }

// share is what an event of the last minute takes beside what is there.
type share struct {
	at    time.Time
	bytes int
}

// NewStanding returns a Standing of a recording of which nothing was told yet. keep is told each change of the number of
// bytes, up or down.
func NewStanding(keep func(bytes int)) *Standing {
	return &Standing{keep: keep, there: map[thing]int{}}
}

// Tell takes in an event that takes so many bytes.
func (s *Standing) Tell(ev Event, bytes int) {
	past := 0
	for past < len(s.recent) && ev.Time.Sub(s.recent[past].at) > lately {
		s.keep(-s.recent[past].bytes)
		past++
	}
	s.recent = s.recent[past:]
	s.keep(bytes)
	switch f := ev.Fact.(type) {
	case *ObjectChange:
		if meta, is := f.Object.(metav1.Object); is {
			of := thing{f.Object.GetObjectKind().GroupVersionKind().Kind, meta.GetNamespace(), meta.GetName()}
			bytes = s.replace(of, bytes, f.Verb == Deleted)
			if of.kind == "Pod" && f.Verb == Deleted { // nor does it wait any more, whether a move tells that or not
				bytes += s.replace(thing{"", of.namespace, of.name}, 0, true)
			}
		}
	case *Move:
		bytes = s.replace(thing{"", f.Pod.Namespace, f.Pod.Name}, bytes, f.To == TierScheduled || f.To == TierDeleted)
	}
	s.recent = append(s.recent, share{ev.Time, bytes})
}

// replace has a thing take so many bytes, or none if it is gone, and returns how many are not of what is there any more.
func (s *Standing) replace(of thing, bytes int, gone bool) int {
	was := s.there[of]
	if gone {
		delete(s.there, of)
		return was + bytes
	}
	s.there[of] = bytes
	return was
}
