package session

import (
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// compareEvery is the real time between two comparisons of many pods while playing.
const (
	compareEvery = 500 * time.Millisecond
	manyPods     = 10_000
)

// compare compares the timeline shown with another. The ID of the one shown ends that.
func (o *owner) compare(id int) {
	other := o.forkOf(id)
	if id == TheRecording {
		other = o.recording
	}
	if old := o.compared; old != nil {
		o.compared, o.comparison = nil, nil
		if old != o.shownTimeline() {
			old.Suspend()
		}
	}
	o.changed = true
	switch {
	case other == nil:
		o.refuse("compare: no such what-if")
	case other == o.shownTimeline():
	default:
		o.compared = other
	}
}

// nameOf returns the name of a timeline.
func (o *owner) nameOf(t *timeline.Timeline) sources.SafeText {
	if t.Branch == nil {
		return "the recording"
	}
	return t.Branch.Name
}

// compareNow compares the two timelines at the time shown, or if the effects of the last action in the
// other settled later, at that time: otherwise it would be compared in the middle of an attempt. It
// returns nil if none is compared.
func (o *owner) compareNow() *board.Comparison {
	mine, other := o.shownTimeline(), o.compared
	if other == nil || other == mine {
		return nil
	}
	if c := o.comparison; c != nil && o.playing && mine.Shown.Pods.Len() > manyPods && time.Since(o.comparedAt) < compareEvery {
		return c
	}
	at := [2]time.Time{o.now, o.now}
	if settled := other.SettledAt(); settled.After(o.now) && !o.now.Before(mine.SettledAt()) {
		at[1] = settled
	}
	if at[1].After(other.Executed) {
		other.Resume()
	}
	other.GoTo(at[1])
	o.comparison, o.comparedAt = board.Compare(mine.Shown, other.Shown), time.Now()
	o.comparison.Names, o.comparison.At = [2]sources.SafeText{o.nameOf(mine), o.nameOf(other)}, at
	return o.comparison
}
