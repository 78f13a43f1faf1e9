package session

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/filter"
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
	o.squeeze, o.skipped = !o.squeeze, Gap{}
	o.changed = true
}

// stepLimit is how far a step in a fork looks for a next move: beyond the leftover flush and a backoff
// nothing new comes by itself.
func (o *owner) stepLimit() time.Duration {
	return o.opts.PodMaxInUnschedulablePods + o.opts.PodMaxBackoff + 2*queue.LeftoverFlushInterval
}

func (o *owner) step(n int) {
	o.still()
	t := o.shownLine()
	for ; n > 0; n-- {
		at, ok := t.forward(o.stepLimit())
		if !ok {
			o.refuse("no move comes after this one")
			break
		}
		o.now = at
	}
	for ; n < 0; n++ {
		at, ok := t.back()
		if !ok {
			o.refuse("no move comes before this one")
			break
		}
		o.now = at
	}
}

// seekLimit is how far a what-if can be taken at once: its every second has to be worked out.
const seekLimit = 24 * time.Hour

func (o *owner) seek(at time.Time) {
	if o.fork != nil && at.Sub(o.fork.executed) > seekLimit {
		o.refuse("a what-if goes on for %s at most at once", seekLimit)
		return
	}
	o.skipped, o.quiet, o.search, o.changed = Gap{}, 0, nil, true
	o.show(at)
}

func (o *owner) seekStart() {
	o.seek(o.shownLine().start)
	o.shownLine().goToStart()
}

func (o *owner) seekEnd() {
	if o.fork != nil {
		o.seek(o.fork.executed)
		return
	}
	o.seek(o.recording.end)
}

func (o *owner) setFilter(f filter.Filter) { o.see(o.shownLine().shown.view.seen(f)) }

func (o *owner) toggleGroup(group types.NamespacedName) {
	o.see(o.shownLine().shown.view.toggled(group))
}

func (o *owner) sortBy(s Sort, tiers []queue.Tier) {
	if !s.Known() {
		o.refuse("sort by %s: there is no such column", sources.Sanitize(string(s.By)))
		return
	}
	o.see(o.shownLine().shown.view.sorted(s, tiers))
}

// see has everything be seen in another way.
func (o *owner) see(v *view) {
	for _, t := range []*timeline{o.recording, o.fork} {
		if t != nil {
			t.see(t.shown, v, o.now)
		}
	}
	o.changed = true
}
