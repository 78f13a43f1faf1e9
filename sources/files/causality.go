package files

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/labels"
	"github.com/schedq/schedq/sources"
)

// maxAhead is how far a scheduler's log can be ahead of the audit log: the API server tells watchers of
// a change before it has finished the answer to the request, by some milliseconds.
const maxAhead = time.Second

// precede moves objects' changes to earlier times where the scheduler's log proves that they had
// happened by then: a pod exists when it is first queued, and is gone when the scheduler says so. The
// order of the changes stays. A pod whose name was used more than once is left alone.
func precede(changes, moves []sources.Event) {
	type sight struct {
		change, move int // index + 1 in changes and moves, 0 for none
		more         bool
	}
	added, deleted := map[types.NamespacedName]sight{}, map[types.NamespacedName]sight{}
	note := func(in map[types.NamespacedName]sight, pod types.NamespacedName, change, move int) {
		s := in[pod]
		s.more = s.more || s.change > 0 && change > 0 || s.move > 0 && move > 0
		s.change, s.move = max(s.change, change), max(s.move, move)
		in[pod] = s
	}
	for i, e := range changes {
		c, _ := e.Fact.(*sources.ObjectChange)
		if c == nil {
			continue
		}
		pod, ok := c.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		switch {
		case c.Verb == sources.Added:
			note(added, name, i+1, 0)
		case c.Verb == sources.Deleted && pod.Spec.NodeName == "":
			note(deleted, name, i+1, 0)
		}
	}
	for i, e := range moves {
		m, _ := e.Fact.(*sources.Move)
		switch {
		case m == nil:
		case labels.IsPodAdd(m.Event):
			note(added, m.Pod, 0, i+1)
		case m.To == sources.TierDeleted:
			note(deleted, m.Pod, 0, i+1)
		}
	}
	for _, seen := range []map[types.NamespacedName]sight{added, deleted} {
		for _, s := range seen {
			if s.more || s.change == 0 || s.move == 0 {
				continue
			}
			change, move := &changes[s.change-1], moves[s.move-1]
			if ahead := change.Time.Sub(move.Time); ahead > 0 && ahead < maxAhead {
				change.Time = move.Time
			}
		}
	}
	inOrder(changes)
}

// inOrder has no change become so later than one that comes after it.
func inOrder(changes []sources.Event) {
	for i := len(changes) - 2; i >= 0; i-- {
		if changes[i+1].Time.Before(changes[i].Time) {
			changes[i].Time = changes[i+1].Time
		}
	}
}
