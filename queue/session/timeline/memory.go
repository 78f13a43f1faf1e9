package timeline

import (
	"cmp"
	"context"
	"time"
	"unsafe"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/sources"
)

// The history of a long recording is limited in memory. The oldest part moves to an archive (see package history), or
// without one is dropped, and replayed when the user goes back there.

// The default of Options.Memory, in bytes.
const (
	limitWithArchive    = 64 << 20
	limitWithoutArchive = 4 << 30
)

// MemoryLimit returns about how many bytes of rec's history to keep in memory, or 0 for all of it: a recording that is in
// memory was limited when it was read. While rec is still being read it is half as much, because the session will replay
// the whole recording beside this one (see Session.Complete).
func (opts Options) MemoryLimit(rec *sources.Recording) int64 {
	switch {
	case rec.Reread == nil:
		return 0
	case opts.OpenArchive != nil && rec.Unread:
		return cmp.Or(opts.Memory, limitWithArchive) / 2
	case opts.OpenArchive != nil:
		return cmp.Or(opts.Memory, limitWithArchive)
	default:
		return cmp.Or(opts.Memory, limitWithoutArchive)
	}
}

// Bytes that values take in addition to their own size, measured as the heap's growth (TestSizeIsWhatTheHeapHolds).
const (
	// podCopy is for the pod's object that a local scheduler in a what-if writes with a change.
	podCopy = 900
	// enginePerPod is for each pod of a checkpoint's queue, and enginePerObject for each of its objects.
	enginePerPod    = 400
	enginePerObject = 100
	// longFact is for the fact of an event of a long recording, and longObject for the object in it. The recording itself
	// does not hold them.
	longFact   = 250
	longObject = 2200
	// schedulerBase is for a local scheduler, and schedulerPerObject for each object that it has.
	schedulerBase      = 400 << 10
	schedulerPerObject = 2500
)

// factSize returns about how many bytes of memory ev's fact takes, excluding what the recording holds itself.
func (t *Timeline) factSize(ev sources.Event) int {
	if t.source.rec == nil || t.source.rec.Reread == nil {
		return 0
	}
	if _, is := ev.Fact.(*sources.ObjectChange); is {
		return longFact + longObject
	}
	return longFact
}

// Size returns about how many bytes of memory the timeline takes, excluding what the recording holds itself. A fork's size
// excludes what it shares with the recording's timeline.
func (t *Timeline) Size() int64 {
	pods, objects := t.Head().Pods.Len(), t.Engine.Objects.Tree.Len()
	engine := pods*enginePerPod + objects*enginePerObject
	n := 0
	if t.Forked != nil {
		n += t.History.Size(t.Forked.History) + (t.ChangeCount()-t.Forked.History.ChangeCount())*podCopy + 2*engine
	} else {
		n += t.History.Size(nil) + len(t.checkpoints)*engine
		n += t.factBytes
	}
	if t.Feed != nil && t.Feed.Shadow != nil {
		n += cap(t.Feed.Events) * int(unsafe.Sizeof(sources.Event{}))
	}
	if t.Engine.Driver != nil {
		n += schedulerBase + objects*schedulerPerObject
	}
	return int64(n)
}

// CutToFit returns the number of the change up to which Forget should drop changes so that the timeline takes at most that
// many bytes, or 0 if it takes no more. Forget then drops half of the changes in memory, but none after the moment shown.
func (t *Timeline) CutToFit(bytes int64) int {
	if t.Size() <= bytes {
		return 0
	}
	n, first := t.Kept()
	if cut := min(first+n/2, t.Cursor) / history.KeyframeEvery * history.KeyframeEvery; cut > first {
		return cut
	}
	return 0
}

// LeftRecently reports whether p, which left the queue, did so within history.LeftRetention before Executed.
func (t *Timeline) LeftRecently(p *board.Pod) bool {
	return t.Executed.Sub(p.Since) <= history.LeftRetention
}

// IsDropped reports whether the history at that time was dropped.
func (t *Timeline) IsDropped(at time.Time) bool { return at.Before(t.KeptSince) }

// OpenPast makes a timeline that has executed nothing move its oldest changes to an archive, in a file that
// opts.OpenArchive creates. After an error they stay in memory.
func (t *Timeline) OpenPast(opts Options) error {
	t.source.opts = opts
	return t.History.OpenArchive(opts.OpenArchive)
}

// AbandonArchive drops the history in the archive after a failure to read or write it. It returns about how many bytes to
// keep in memory from now on; 0 means all.
func (t *Timeline) AbandonArchive() (limit int64) {
	t.History.DropArchive()
	if t.source.rec == nil { // a live cluster's history can't be replayed
		t.Start = t.OldestAt()
		return 0
	}
	t.KeptSince, t.source.opts.OpenArchive = t.OldestAt(), nil
	return t.source.opts.MemoryLimit(t.source.rec)
}

// NeedsStore reports whether StoreBeyond has something to do.
func (t *Timeline) NeedsStore(bytes int64) bool {
	n, _ := t.Kept()
	return t.HasArchive() && bytes > 0 && n > history.MinInMemory && t.Size() > bytes
}

// StoreBeyond moves the oldest changes to the archive, and drops their checkpoints, until the timeline takes at most that
// many bytes of memory. It does not wait for writes (see history.Storing): call it again after them. After an error the
// archive is unusable.
func (t *Timeline) StoreBeyond(bytes int64) error {
	for t.NeedsStore(bytes) {
		if stored, err := t.Store(); err != nil || !stored {
			return err
		}
		_, first := t.Kept()
		t.dropCheckpoints(first)
	}
	return nil
}

// Restart resets t to a timeline that has executed nothing. It keeps the marks and the view. Frames may still read the old
// archive, whose file is closed with the last of them.
func (t *Timeline) Restart() {
	was := *t
	was.CloseFeed()
	*t = *New(was.source.rec, was.source.cfg, was.source.plugins)
	if was.source.opts.OpenArchive != nil {
		_ = t.OpenPast(was.source.opts) // if that fails, the oldest history is dropped, which a notice reports
	}
	if t.Marks = was.Marks; t.source.rec.Unread {
		t.ReadTo(was.Feed.End.Add(evidence.Lag))
	}
	t.SetView(t.Shown, was.Shown.View, t.Start)
}

// PlayTo executes everything up to at or End, whichever is earlier, and shows that moment. On the way it drops older
// history, except each pod's last two moves and when it last waited, and of the pods that left those that keep returns true
// for. Afterwards a fork can start at at only. PlayTo stops early when ctx ends, and calls opts.Progress.
func (t *Timeline) PlayTo(ctx context.Context, at time.Time, opts Options, keep func(*board.Pod) bool) {
	if at.After(t.End) {
		at = t.End
	}
	t.Engine.shortenMoves = true
	t.Feed.EndWith(ctx)
	defer func() {
		t.Engine.shortenMoves = false
		t.Feed.EndWith(context.Background())
	}()
	total := max(at.Sub(t.Start), 1)
	for i := 0; t.HasEventBy(at); i++ {
		if i%1000 == 0 {
			if ctx.Err() != nil {
				return
			}
			opts.ReportProgress(total-at.Sub(t.Executed), total)
		}
		t.ExecuteNext()
		if n, _ := t.Kept(); n > 2*history.KeyframeEvery {
			t.SetCursor(t.ChangeCount())
			t.History.Forget((t.ChangeCount()-1)/history.KeyframeEvery*history.KeyframeEvery, keep)
		}
		if len(t.checkpoints) > 2 {
			t.dropCheckpoints(t.ChangeCount())
		}
	}
	t.SetCursor(t.ChangeCount())
	opts.ReportProgress(total, total)
}
