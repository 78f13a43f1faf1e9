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

// The commands that move through time.

func (o *owner) play() {
	if o.atEnd() {
		o.refuse("the recording ends here: seek back, or fork to go on")
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

// stepLimit is how far a step in a fork looks for a next move: beyond the leftover flush and a backoff
// nothing new comes by itself.
func (o *owner) stepLimit() time.Duration {
	opts := o.shownLine().Options()
	return opts.PodMaxInUnschedulablePods + opts.PodMaxBackoff + 2*queue.LeftoverFlushInterval
}

func (o *owner) step(n int) {
	o.still()
	t := o.shownLine()
	for ; n > 0; n-- {
		at, ok := t.StepForward(o.stepLimit())
		if !ok {
			o.refuse("no move comes after this one%s", o.asFarAsRead())
			break
		}
		o.now = at
	}
	for ; n < 0; n++ {
		if t.LogShown().Len() <= 1 && !t.Since.IsZero() {
			o.goBackTo(t.Since.Add(-1))
			break
		}
		at, ok := t.StepBack()
		if !ok {
			o.refuse("no move comes before this one")
			break
		}
		o.now = at
	}
}

func (o *owner) seekStart() {
	o.seek(o.shownLine().Start)
	if o.search == nil {
		o.shownLine().GoToStart()
	}
}

func (o *owner) seekEnd() {
	if o.fork != nil {
		o.seek(o.fork.Executed)
		return
	}
	o.seek(o.recording.End)
}

func (o *owner) setFilter(f filter.Filter) { o.see(o.shownLine().Shown.View.WithFilter(f)) }

func (o *owner) toggleGroup(group types.NamespacedName) {
	o.see(o.shownLine().Shown.View.WithGroupToggled(group))
}

func (o *owner) sortBy(s board.Sort, tiers []queue.Tier) {
	if !s.Known() {
		o.refuse("sort by %s: there is no such column", sources.Sanitize(string(s.By)))
		return
	}
	o.see(o.shownLine().Shown.View.WithSort(s, tiers))
}

// see has everything be seen in another way.
func (o *owner) see(v *board.View) {
	for _, t := range []*timeline.Timeline{o.recording, o.fork} {
		if t != nil {
			t.SetView(t.Shown, v, o.now)
		}
	}
	o.changed = true
}
