package history

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
)

// Log contains the moves up to some moment. Any goroutine may read it.
type Log struct {
	newest []*board.Transition
	older  int // number of moves before newest, in past
	past   *archive.Archive
}

// LogShown returns the moves up to the moment shown that were not dropped.
func (h *History) LogShown() Log {
	if h.past == nil {
		return Log{newest: slices.Clip(h.moves[:h.Moved-h.firstMove])}
	}
	l := Log{older: min(h.Moved, h.firstMove), past: h.past}
	if h.Moved > h.firstMove {
		l.newest = slices.Clip(h.moves[:h.Moved-h.firstMove])
	}
	return l
}

// MovesKnown returns how many moves were executed and not dropped.
func (h *History) MovesKnown() int {
	_, oldest := h.Oldest()
	return h.MoveCount() - oldest
}

// Len returns the number of moves.
func (l Log) Len() int { return l.older + len(l.newest) }

// At returns the i-th move, from the oldest.
func (l Log) At(i int) *board.Transition {
	if i < l.older {
		return readMove(l.past, i)
	}
	return l.newest[i-l.older]
}

// readMove reads a move from an archive. If that fails, it returns a move of a pod without a name.
func readMove(past *archive.Archive, i int) *board.Transition {
	if m := past.Move(i); m != nil {
		return m
	}
	lost := &board.Transition{Seq: i, Pod: &board.Pod{PodInfo: queue.PodInfo{Pod: &v1.Pod{}}}}
	lost.Pod.Last = lost
	return lost
}
