package session

import (
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session/timeline"
)

// liveHistory is how far back a live session can be looked at.
const liveHistory = time.Hour

// forgetOld drops what is older than liveHistory, a stretch at a time. While a person is in a what-if or on
// the way to somewhere, all is kept.
func (o *owner) forgetOld() {
	t := o.recording
	if o.fork != nil || o.search != nil || len(o.forks) > 0 || len(t.Changes) < 2*timeline.KeyframeEvery {
		return
	}
	cut := min(t.At(t.End.Add(-liveHistory)), t.Cursor) / timeline.KeyframeEvery * timeline.KeyframeEvery
	if cut == 0 {
		return
	}
	since := t.Changes[cut].At
	t.Forget(cut)
	t.Start = since
	n := len(o.counts) - len(t.Counts)
	o.counts = slices.Clone(o.counts[n:])
	o.changed = true
}
