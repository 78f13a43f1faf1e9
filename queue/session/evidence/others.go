package evidence

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// others are the pods that the scheduler leaves to another one.
type others struct {
	serves func(*v1.Pod) bool // nil if it leaves none
	known  map[types.UID]struct{}
}

// Serves has the future know for which pods the scheduler is responsible. What is told of others' attempts and bindings shows nothing of it:
// another scheduler makes them, by a client of its own, whose requests and Events wait for no limit of this one's. It must come before
// what is told of them.
func (f *Future) Serves(responsible func(*v1.Pod) bool) { f.others.serves = responsible }

// IsOfAnother reports whether the pod with that UID is one that the scheduler leaves to another, as far as it is known.
func (f *Future) IsOfAnother(uid types.UID) bool {
	_, is := f.others.known[uid]
	return is
}

// tellsOfAnother reports whether fact tells of an attempt of such a pod.
func (f *Future) tellsOfAnother(fact sources.Fact) bool {
	switch fact := fact.(type) {
	case *sources.FailedAttempt:
		return f.IsOfAnother(fact.UID)
	case *sources.StatusPatched:
		return f.IsOfAnother(fact.UID)
	case *sources.Refused:
		return f.IsOfAnother(fact.UID)
	}
	return false
}

// note takes in what became of a pod.
func (o *others) note(pod *v1.Pod, deleted bool) {
	switch {
	case deleted:
		delete(o.known, pod.UID)
	case o.serves != nil && !o.serves(pod):
		if o.known == nil {
			o.known = map[types.UID]struct{}{}
		}
		o.known[pod.UID] = struct{}{}
	}
}
