package session

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// Commands that move through time.

func (o *owner) play() {
	if o.atEnd() {
		o.refuse("the recording ends here: seek back, or start a what-if")
		return
	}
	o.playing, o.search, o.quiet, o.changed = true, nil, 0, true
}

func (o *owner) pause() { o.playing, o.search, o.changed = false, nil, true }

func (o *owner) togglePlay() {
	if o.playing {
		o.pause()
	} else {
		o.play()
	}
}

func (o *owner) setSpeed(x float64) {
	o.speed = min(max(x, MinSpeed), MaxSpeed)
	o.changed = true
}

func (o *owner) toggleSqueeze() {
	o.squeeze, o.skipped = !o.squeeze, QuietTime{}
	o.changed = true
}

// stepLimit limits how far a step in a what-if looks for the next move: after the leftover flush and a
// backoff nothing happens by itself.
func (o *owner) stepLimit() time.Duration {
	opts := o.shownTimeline().Options()
	return opts.PodMaxInUnschedulablePods + opts.PodMaxBackoff + 2*queue.LeftoverFlushInterval
}

func (o *owner) step(n int) {
	o.halt()
	t := o.shownTimeline()
	for ; n > 0; n-- {
		at, ok := t.StepForward(o.stepLimit())
		if !ok {
			o.refuse("this is the last move%s", o.upToRead())
			break
		}
		o.now = at
	}
	for ; n < 0; n++ {
		if t.LogShown().Len() <= 1 && !t.KeptSince.IsZero() {
			o.replayTo(t.KeptSince.Add(-1))
			break
		}
		at, ok := t.StepBack()
		if !ok {
			o.refuse("this is the first move")
			break
		}
		o.now = at
	}
}

func (o *owner) seekStart() {
	o.seek(o.shownTimeline().Start)
	if o.search == nil {
		o.shownTimeline().GoToStart()
	}
}

// seekEnd goes to the end of the what-if shown; in the recording to the scheduler's end if its log has it,
// and from there to the recording's.
func (o *owner) seekEnd() {
	switch {
	case o.fork != nil && o.now.Equal(o.fork.Executed):
		o.refuse("this is the last moment played")
	case o.fork != nil:
		o.seek(o.fork.Executed)
	case o.now.Before(o.ended):
		o.travel(o.ended)
	default:
		o.travel(o.recording.End)
	}
}

func (o *owner) setFilter(f filter.Filter) { o.setView(o.shownTimeline().Shown.View.WithFilter(f)) }

func (o *owner) toggleGroup(group types.NamespacedName) {
	o.setView(o.shownTimeline().Shown.View.WithGroupToggled(group))
}

func (o *owner) sortBy(s board.Sort, tiers []queue.Tier) {
	if !s.Known() {
		o.refuse("sort by %s: no such column", sources.Sanitize(string(s.By)))
		return
	}
	o.setView(o.shownTimeline().Shown.View.WithSort(s, tiers))
}

// setView sets the view of all timelines shown.
func (o *owner) setView(v *board.View) {
	for _, t := range []*timeline.Timeline{o.recording, o.fork} {
		if t != nil {
			t.SetView(t.Shown, v, o.now)
		}
	}
	o.changed = true
}
