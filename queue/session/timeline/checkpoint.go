package timeline

import (
	"slices"
	"sort"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/history"
)

// checkpointEvery is the number of a recording's events between two checkpoints.
const checkpointEvery = 10_000

// checkpoint is the state of a recording's engine and board after some of its events. The engine is cloned, never run.
type checkpoint struct {
	engine *Engine
	board  *board.Board
	events int
}

// EngineIsAt reports whether the engine is in the state of now, the moment shown.
func (t *Timeline) EngineIsAt(now time.Time) bool {
	switch {
	case t.Cursor < t.ChangeCount():
		return false
	case t.Forked != nil:
		return !t.Executed.After(now)
	}
	return t.Next == 0 || !t.Feed.Events[t.Next-1].Time.After(now)
}

// HasEngine reports whether EngineShown can rebuild the engine of the moment shown. For archived history it can't.
func (t *Timeline) HasEngine() bool { return t.InMemory() }

// EngineShown returns a copy of a recording's engine in the state of now, the moment shown. If the timeline has executed
// more since, it applies the events since the checkpoint before now again, which gives the same engine.
func (t *Timeline) EngineShown(now time.Time) *Engine {
	if t.EngineIsAt(now) {
		return t.Engine.Clone()
	}
	i := len(t.checkpoints) - 1
	for i > 0 && (t.checkpoints[i].engine.changes > t.Cursor || t.Feed.Events[t.checkpoints[i].events-1].Time.After(now)) {
		i--
	}
	from := t.checkpoints[i]
	e := from.engine.Clone()
	h := history.NewFrom(from.board.Copy())
	e.Board, e.Emit = h.Head(), h.Append
	stepped := t.Cursor < t.ChangesBy(now) // to one of several moves of that time
	for _, ev := range t.Feed.Events[from.events:t.Next] {
		if ev.Time.After(now) || stepped && e.changes >= t.Cursor {
			break
		}
		e.apply(ev)
	}
	t.SetCursor(e.changes) // an event may make several changes
	return e
}

// Forget drops the changes before number cut, which must be a multiple of history.KeyframeEvery, with their events. Of the
// pods that had left the queue by then, it keeps those that keep returns true for; nil keeps none.
func (t *Timeline) Forget(cut int, keep func(*board.Pod) bool) {
	t.History.Forget(cut, keep)
	t.dropCheckpoints(cut)
}

// ForgetCounts drops the counts before change number cut, and returns how many.
func (t *Timeline) ForgetCounts(cut int) int {
	dropped := sort.Search(len(t.Counts), func(i int) bool { return t.Counts[i].Changes >= cut })
	t.Counts = slices.Clone(t.Counts[dropped:])
	return dropped
}

// dropCheckpoints drops the checkpoints and events that lead to changes before number cut. It keeps the last checkpoint
// before that.
func (t *Timeline) dropCheckpoints(cut int) {
	first := 0
	for first+1 < len(t.checkpoints) && t.checkpoints[first+1].engine.changes <= cut {
		first++
	}
	if first == 0 {
		return
	}
	from := t.checkpoints[first].events
	for _, ev := range t.Feed.Events[:from] {
		t.factBytes -= t.factSize(ev)
	}
	t.checkpoints = slices.Clone(t.checkpoints[first:])
	t.Feed.Events, t.Next = slices.Clone(t.Feed.Events[from:]), t.Next-from
	for i := range t.checkpoints {
		t.checkpoints[i].events -= from
	}
}
