package cluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

// QueuedPods are the pods that emitted events report as queued, by name.
type QueuedPods map[types.NamespacedName]types.UID

// Moves reports whether t moves the pod that is reported as queued under that name. A pod that enters the
// queue becomes that pod. It returns false for an attempt that ends after its pod was deleted and
// replaced by another with its name.
func (s QueuedPods) Moves(key types.NamespacedName, t *queue.Transition) bool {
	if t.From == queue.None && t.To != queue.Deleted {
		s[key] = t.Pod.UID
	}
	is := s[key] == t.Pod.UID
	if is && t.To == queue.Deleted {
		delete(s, key)
	}
	return is
}

// RemoveGone removes and returns the pods that no longer wait for a scheduler in objects, sorted by name.
func (s QueuedPods) RemoveGone(objects Objects) (gone []types.NamespacedName) {
	for key, uid := range s {
		if pod := objects.Pod(key); pod == nil || pod.UID != uid || !Waiting(pod) {
			gone = append(gone, key)
			delete(s, key)
		}
	}
	slices.SortFunc(gone, ByKey)
	return gone
}
