package timeline

import (
	"cmp"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/sources"
)

// Of a long recording no more is kept of what was played than a bound allows. The oldest goes, and is worked out again when a
// person goes back there.

// made is what a recording's timeline was made of.
type made struct {
	rec     *sources.Recording
	cfg     *schedulerconfig.Config
	plugins queue.Plugins
}

// defaultBound is how many bytes of what was played of a long recording are kept, about, if a person does not say.
const defaultBound = 4 << 30

// Bound is how many bytes of what was played of rec are kept, about. 0 is all: what is kept of rec itself was bounded when it was
// read.
func (opts Options) Bound(rec *sources.Recording) int64 {
	if rec.Again == nil {
		return 0
	}
	return cmp.Or(opts.Memory, defaultBound)
}

// CutBeyond returns which change should be the oldest, by Forget, for the timeline to hold no more than so many bytes, or 0 if all
// that are kept may be. None that are after the moment shown are dropped, and half of those that are kept stay.
func (t *Timeline) CutBeyond(bytes int64) int {
	if t.Size() <= bytes {
		return 0
	}
	cut := min(t.first+len(t.changes)/2, t.Cursor) / KeyframeEvery * KeyframeEvery
	if cut == t.first {
		return 0
	}
	return cut
}

// LeftLately reports whether p, which has left the queue, did so not long before the newest of what is executed.
func (t *Timeline) LeftLately(p *board.Pod) bool { return t.Executed.Sub(p.Since) <= KeepLeft }

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

// BeginAnew makes t what it was when nothing had been executed, but for its marks and how it is seen.
func (t *Timeline) BeginAnew() {
	was := *t
	was.Feed.Close()
	*t = *New(was.made.rec, was.made.cfg, was.made.plugins)
	if t.Marks = was.Marks; t.made.rec.Unread {
		t.ReadTo(was.Feed.End.Add(model.Lag))
	}
	t.SetView(t.Shown, was.Shown.View, t.Start)
}
