package session

import (
	"slices"
	"time"
)

// liveHistory is how far back a live session can be looked at.
const liveHistory = time.Hour

// forgetOld drops what is older than liveHistory, a stretch at a time. While a person is in a what-if or on
// the way to somewhere, all is kept.
func (o *owner) forgetOld() {
	t := o.recording
	if o.fork != nil || o.search != nil || len(o.forks) > 0 || len(t.changes) < 2*keyframeEvery {
		return
	}
	cut := min(t.at(t.end.Add(-liveHistory)), t.cursor) / keyframeEvery * keyframeEvery
	if cut == 0 {
		return
	}
	since := t.changes[cut].at
	t.forget(cut)
	t.start = since
	n := len(o.counts) - len(t.counts)
	o.counts = slices.Clone(o.counts[n:])
	o.changed = true
}
