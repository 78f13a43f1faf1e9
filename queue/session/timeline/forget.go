package timeline

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/history"
)

// Forget drops the changes before the cut-th, whose number is a multiple of history.KeyframeEvery, and what led to them, and of the
// pods that had left by then all but those that keep is true of; nil is none. Slices that frames have stay as they are.
func (t *Timeline) Forget(cut int, keep func(*board.Pod) bool) {
	t.History.Forget(cut, keep)
	t.forgetEngines(cut)
}

// ForgetCounts drops the counts before the cut-th change, and returns how many those were.
func (t *Timeline) ForgetCounts(cut int) int {
	dropped := sort.Search(len(t.Counts), func(i int) bool { return t.Counts[i].Changes >= cut })
	t.Counts = slices.Clone(t.Counts[dropped:])
	return dropped
}

// PlayTo has everything happen that does up to the moment at, or until ctx ends, and forgets on the way what was long before, but for
// what the pods tell of themselves that are there then or that keep is true of. It tells opts.Progress how far it is.
func (t *Timeline) PlayTo(ctx context.Context, at time.Time, opts Options, keep func(*board.Pod) bool) {
	way := max(at.Sub(t.Start), 1)
	for i := 0; t.HasEventBy(at); i++ {
		if i%1000 == 0 {
			if ctx.Err() != nil {
				return
			}
			opts.Played(way-at.Sub(t.Executed), way)
		}
		t.ExecuteNext()
		if n, _ := t.Kept(); n > 2*history.KeyframeEvery {
			t.Forget((t.ChangeCount()-1)/history.KeyframeEvery*history.KeyframeEvery, keep)
		}
	}
	opts.Played(way, way)
}

// StoreBeyond moves the oldest changes to the archive, and drops what led to them, until t takes no more than so many bytes of memory.
// They are written meanwhile (see history.Storing), and it goes on when it is called again. An error is that of the archive's file:
// then what it has can't be relied on.
func (t *Timeline) StoreBeyond(bytes int64) error {
	for t.StoresBeyond(bytes) {
		if stored, err := t.Store(); err != nil || !stored {
			return err
		}
		_, first := t.Kept()
		t.forgetEngines(first)
	}
	return nil
}

// StoresBeyond reports whether StoreBeyond has something to do.
func (t *Timeline) StoresBeyond(bytes int64) bool {
	n, _ := t.Kept()
	return t.Keeps() && bytes > 0 && n > history.LeastInMemory && t.Size() > bytes
}

// forgetEngines drops what led to the changes before the cut-th: the engine before the first that is left is the oldest that is
// needed.
func (t *Timeline) forgetEngines(cut int) {
	first := 0
	for first+1 < len(t.checkpoints) && t.checkpoints[first+1].engine.changes <= cut {
		first++
	}
	if first == 0 {
		return
	}
	from := t.checkpoints[first].events
	for _, ev := range t.Feed.Events[:from] {
		t.facts -= t.factSize(ev)
	}
	t.checkpoints = slices.Clone(t.checkpoints[first:])
	t.Feed.Events, t.Next = slices.Clone(t.Feed.Events[from:]), t.Next-from
	for i := range t.checkpoints {
		t.checkpoints[i].events -= from
	}
}
