package cluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

// Shown are the pods that events said to be in the queue, by their names.
type Shown map[types.NamespacedName]types.UID

// Moves reports whether t moves the pod that events said to be in the queue under that name; a pod that enters the queue
// becomes that one. It is false of an attempt that ends after its pod was deleted and another got its name.
func (s Shown) Moves(key types.NamespacedName, t *queue.Transition) bool {
	if t.From == queue.None && t.To != queue.Deleted {
		s[key] = t.Pod.UID
	}
	is := s[key] == t.Pod.UID
	if is && t.To == queue.Deleted {
		delete(s, key)
	}
	return is
}

// RemoveGone takes out and returns those that do not wait for a scheduler in objects, in the order of their names.
func (s Shown) RemoveGone(objects Objects) (gone []types.NamespacedName) {
	for key, uid := range s {
		if pod := objects.Pod(key); pod == nil || pod.UID != uid || !Waiting(pod) {
			gone = append(gone, key)
			delete(s, key)
		}
	}
	slices.SortFunc(gone, ByKey)
	return gone
}
