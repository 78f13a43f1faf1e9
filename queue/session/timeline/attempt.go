package timeline

import (
	"iter"
	"slices"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// AttemptOf returns the move that began the attempt by which p was bound, or the one that is under way, and the move that bound it.
// They are nil if p has had no such attempt, or if its moves do not show it.
func AttemptOf(p *board.Pod) (popped, bound *board.Transition) {
	t := p.Last
	if p.Tier == queue.Deleted {
		for t != nil && t.To == queue.Deleted {
			t = t.Prev()
		}
	}
	if t != nil && t.To == queue.Scheduled {
		bound = t
		t = t.Prev()
	}
	if t == nil || t.To != queue.InFlight {
		return nil, bound
	}
	return t, bound
}

// EngineBefore returns a clone of the engine as it was after so many changes, the last of them at or before the moment at, for the
// attempt of which popped is the first move, and bound the one that bound the pod, if any. Pods that were assumed by then are on
// their nodes among its objects: those that were popped before and still in flight then, and if popped is the model's guess those
// whose bindings were sent before the pod's. It is nil if the engine of that moment is not kept.
func (t *Timeline) EngineBefore(popped, bound *board.Transition, changes int, at time.Time) *Engine {
	cursor := t.Cursor
	defer func() { t.SetCursor(cursor) }()
	if _, first := t.Kept(); changes < first {
		return nil
	}
	if t.SetCursor(changes); !t.HasEngine() {
		return nil
	}
	moves := t.MovesFrom(t.Moved)
	e := t.EngineShown(at)
	var assumed []*v1.Pod
	flying, waiting := map[types.NamespacedName]*v1.Pod{}, map[types.NamespacedName]*v1.Pod{}
	e.Objects.Each("Pod", func(obj runtime.Object) bool {
		pod := obj.(*v1.Pod)
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		if key == popped.Pod.Key {
			if pod.Spec.NodeName != "" { // the attempt is known from its binding only
				assumed = append(assumed, cluster.Unbound(pod))
			}
			return true
		}
		switch p := t.Shown.Get(key); {
		case pod.Spec.NodeName != "" || p == nil || p.Object().UID != pod.UID:
		case p.Tier == queue.InFlight && p.Last.Seq < popped.Seq:
			flying[key] = pod
		case p.Tier == queue.Scheduled && p.Node != "": // the object follows
			assumed = append(assumed, cluster.Bound(pod, p.Node))
		default:
			waiting[key] = pod
		}
		return true
	})
	before := bound != nil && !popped.Observed // the move bound is still to come
	for _, m := range moves {
		if before = before && m != bound; len(flying) == 0 && !before {
			break
		}
		pod, ok := flying[m.Pod.Key]
		if !ok && before && m.To == queue.Scheduled && t.sent(m).Before(t.sent(bound)) {
			pod, ok = waiting[m.Pod.Key]
		}
		if !ok {
			continue
		}
		delete(flying, m.Pod.Key)
		if m.To == queue.Scheduled && m.Pod.Node != "" {
			assumed = append(assumed, cluster.Bound(pod, m.Pod.Node))
		}
	}
	for _, pod := range assumed {
		e.Objects.Put(pod)
	}
	return e
}

// sent returns when the API server received the request by which a move bound a pod, and the time of the move if that is unknown.
func (t *Timeline) sent(bound *board.Transition) time.Time {
	for _, c := range t.ObjectChanges(bound.Time, bound.Time) {
		if pod, is := c.Object.(*v1.Pod); is && !c.Sent.IsZero() && pod.Name == bound.Pod.Key.Name && pod.Namespace == bound.Pod.Key.Namespace {
			return c.Sent
		}
	}
	return bound.Time
}

// ObjectChanges yields the changes of objects from one moment to another, as far as they are executed and kept.
func (t *Timeline) ObjectChanges(from, to time.Time) iter.Seq2[time.Time, *sources.ObjectChange] {
	return func(yield func(time.Time, *sources.ObjectChange) bool) {
		events := t.Feed.Events[:t.Next]
		i := sort.Search(len(events), func(i int) bool { return !events[i].Time.Before(from) })
		for ; i < len(events) && !events[i].Time.After(to); i++ {
			if c, is := events[i].Fact.(*sources.ObjectChange); is && !yield(events[i].Time, c) {
				return
			}
		}
	}
}

// WatchAttempts runs a fork again up to a moment and calls watch before each attempt of its local scheduler.
func (t *Timeline) WatchAttempts(until time.Time, watch func(*cycle.Scheduler, *queue.PodInfo)) {
	from := t.Forked.engine.Clone()
	from.watch = watch
	again := &Timeline{
		History: t.History, Start: t.Start, Injected: t.Injected, Marks: slices.Clip(t.Marks), Branch: &branch{From: until},
		Forked: &forkStart{engine: from, History: t.Forked.History}, Engine: from.Clone(),
	}
	defer again.Close()
	n := 0
	for n < len(t.Injected) && !t.Injected[n].At.After(until) {
		n++
	}
	again.Reinject(t.Injected[:n:n], until)
	again.Execute(until) // also what follows at the moment of the last injection
}
