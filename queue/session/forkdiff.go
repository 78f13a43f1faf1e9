package session

import (
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// compareEvery is how often a comparison of many pods is made anew while playing, in real time.
const (
	compareEvery = 500 * time.Millisecond
	manyPods     = 10_000
)

// compare shows another timeline beside the one that is shown. Its own ID ends that.
func (o *owner) compare(id int) {
	other := o.forkOf(id)
	if id == TheRecording {
		other = o.recording
	}
	if old := o.compared; old != nil {
		o.compared, o.comparison = nil, nil
		if old != o.shownLine() {
			old.Suspend()
		}
	}
	o.changed = true
	switch {
	case other == nil:
		o.refuse("compare: there is no such what-if")
	case other == o.shownLine():
	default:
		o.compared = other
	}
}

// nameOf is what a timeline is called.
func (o *owner) nameOf(t *timeline.Timeline) sources.SafeText {
	if t.Branch == nil {
		return "the recording"
	}
	return t.Branch.Name
}

// compareNow returns how the two timelines differ at the moment shown, or nil if none is compared.
func (o *owner) compareNow() *board.Comparison {
	mine, other := o.shownLine(), o.compared
	if other == nil || other == mine {
		return nil
	}
	if c := o.comparison; c != nil && o.playing && mine.Shown.Pods.Len() > manyPods && time.Since(o.comparedAt) < compareEvery {
		return c
	}
	if o.now.After(other.Executed) {
		other.Resume()
	}
	other.GoTo(o.now)
	o.comparison, o.comparedAt = board.Compare(mine.Shown, other.Shown), time.Now()
	o.comparison.Names, o.comparison.At = [2]sources.SafeText{o.nameOf(mine), o.nameOf(other)}, o.now
	return o.comparison
}
