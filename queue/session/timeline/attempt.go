package timeline

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
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

// EngineBefore returns a clone of the engine as it was when the attempt began that popped is the first move of. Pods that were
// assumed by then are on their nodes among its objects: whoever was in flight and was bound later. It is nil if the engine of
// that moment is not kept.
func (t *Timeline) EngineBefore(popped *board.Transition) *Engine {
	cursor := t.Cursor
	defer func() { t.SetCursor(cursor) }()
	if _, first := t.Kept(); popped.Change < first {
		return nil
	}
	if t.SetCursor(popped.Change + 1); !t.HasEngine() {
		return nil
	}
	moves := t.MovesFrom(t.Moved)
	e := t.EngineShown(popped.Time)
	// The attempt may be known from its binding only, which the objects contain by then.
	if pod := e.Objects.Pod(popped.Pod.Key); pod != nil && pod.Spec.NodeName != "" {
		pod = pod.DeepCopy()
		pod.Spec.NodeName = ""
		e.Objects.Put(pod)
	}
	flying := map[types.NamespacedName]*v1.Pod{}
	for info := range e.Queue.InFlight() {
		key := types.NamespacedName{Namespace: info.Pod.Namespace, Name: info.Pod.Name}
		if pod := e.Objects.Pod(key); pod != nil && pod.Spec.NodeName == "" && key != popped.Pod.Key {
			flying[key] = pod
		}
	}
	for _, m := range moves {
		if len(flying) == 0 {
			break
		}
		pod, ok := flying[m.Pod.Key]
		if !ok {
			continue
		}
		delete(flying, m.Pod.Key)
		if m.To == queue.Scheduled && m.Pod.Node != "" {
			pod = pod.DeepCopy()
			pod.Spec.NodeName = m.Pod.Node
			e.Objects.Put(pod)
		}
	}
	return e
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
}
