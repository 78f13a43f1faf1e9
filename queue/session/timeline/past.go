package timeline

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/sources"
)

// Of a long recording no more of what was played is kept in memory than a bound allows. The oldest goes to an archive (see package history),
// or if there is none, is forgotten, and worked out again when a person goes back there.

// made is what a recording's timeline was made of.
type made struct {
	rec     *sources.Recording
	cfg     *schedulerconfig.Config
	plugins queue.Plugins
	opts    Options // their Past is nil where nothing is kept but in memory
}

// How many bytes of what was played of a long recording are in memory, about, if a person does not say: where the rest is kept, or
// forgotten.
const (
	boundBeforePast = 64 << 20
	boundOfAll      = 4 << 30
)

// Bound is how many bytes of what was played of rec are in memory, about. 0 is all: what is kept of rec itself was bounded when it
// was read. Of one that is not read to its end yet it is half, since the whole is played beside it then (see Session.Complete).
func (opts Options) Bound(rec *sources.Recording) int64 {
	switch {
	case rec.Reread == nil:
		return 0
	case opts.Past != nil && rec.Unread:
		return cmp.Or(opts.Memory, boundBeforePast) / 2
	case opts.Past != nil:
		return cmp.Or(opts.Memory, boundBeforePast)
	default:
		return cmp.Or(opts.Memory, boundOfAll)
	}
}

// CutBeyond returns which change should be the oldest, by Forget, for the timeline to hold no more than so many bytes, or 0 if all
// that are kept may be. None that are after the moment shown are dropped, and half of those that are kept stay.
func (t *Timeline) CutBeyond(bytes int64) int {
	if t.Size() <= bytes {
		return 0
	}
	n, first := t.Kept()
	if cut := min(first+n/2, t.Cursor) / history.KeyframeEvery * history.KeyframeEvery; cut > first {
		return cut
	}
	return 0
}

// LeftLately reports whether p, which has left the queue, did so not long before the newest of what is executed.
func (t *Timeline) LeftLately(p *board.Pod) bool {
	return t.Executed.Sub(p.Since) <= history.LeftRetention
}

// OpenPast has t, of which nothing has been executed, keep its oldest changes in a file that opts.Past opens: see history.OpenPast.
func (t *Timeline) OpenPast(opts Options) error {
	t.made.opts = opts
	return t.History.OpenPast(opts.Past)
}

// Unkeep has t forget what is in that file, which can't be read or written any more, and returns how many bytes are in memory from then
// on, about; 0 is as many as there are.
func (t *Timeline) Unkeep() (bound int64) {
	t.History.DropArchive()
	if t.made.rec == nil { // nothing of a live cluster can be worked out again
		t.Start = t.OldestAt()
		return 0
	}
	t.Since, t.made.opts.Past = t.OldestAt(), nil
	return t.made.opts.Bound(t.made.rec)
}

// HasEngine reports whether the engine is known as it was at the moment shown. Of moments in the file it is not.
func (t *Timeline) HasEngine() bool { return t.InMemory() }

// IsGone reports whether what was at a moment is not kept any more.
func (t *Timeline) IsGone(at time.Time) bool { return at.Before(t.Since) }

// ReadTo has what a recording that is not read to its end tells up to a moment be shown, too.
func (t *Timeline) ReadTo(at time.Time) {
	if t.Feed.ReadTo(at); t.Feed.End.After(t.Start) {
		t.End = t.Feed.End
	} else {
		t.End = t.Start
	}
}

// BeginAnew makes t what it was when nothing had been executed, but for its marks and how it is seen. Frames may still read the file
// that it kept its oldest changes in: that is closed when none of them is left.
func (t *Timeline) BeginAnew() {
	was := *t
	was.CloseFeed()
	*t = *New(was.made.rec, was.made.cfg, was.made.plugins)
	if was.made.opts.Past != nil {
		_ = t.OpenPast(was.made.opts) // if it can't, the oldest is forgotten, and told to be
	}
	if t.Marks = was.Marks; t.made.rec.Unread {
		t.ReadTo(was.Feed.End.Add(channels.Lag))
	}
	t.SetView(t.Shown, was.Shown.View, t.Start)
}

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

// PlayTo has everything happen that does up to the moment at, or up to the end if that is earlier, or until ctx ends, and forgets on the
// way what was long before, but for where the pods are that are there then or that keep is true of, their last two moves, and when each
// waited last. A what-if can begin at the moment at alone. It tells opts.Progress how far it is.
func (t *Timeline) PlayTo(ctx context.Context, at time.Time, opts Options, keep func(*board.Pod) bool) {
	if at.After(t.End) {
		at = t.End
	}
	t.Engine.shortens = true
	t.Feed.EndWith(ctx)
	defer t.Feed.EndWith(context.Background())
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
			t.SetCursor(t.ChangeCount())
			t.History.Forget((t.ChangeCount()-1)/history.KeyframeEvery*history.KeyframeEvery, keep)
		}
		if len(t.checkpoints) > 2 {
			t.forgetEngines(t.ChangeCount())
		}
	}
	t.SetCursor(t.ChangeCount())
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
	return t.HasArchive() && bytes > 0 && n > history.MinInMemory && t.Size() > bytes
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
