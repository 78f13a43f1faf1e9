package session

import (
	"time"

	"github.com/schedq/schedq/queue"
)

// The commands that move through time.

func (o *owner) play() {
	if o.atEnd() {
		o.refuse("the recording ends here: seek back, or fork to go on")
		return
	}
	o.playing, o.quiet, o.changed = true, 0, true
}

func (o *owner) pause() { o.playing, o.changed = false, true }

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
	o.playing, o.skipped, o.changed = false, Gap{}, true
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
	o.skipped, o.quiet, o.changed = Gap{}, 0, true
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

func (o *owner) setFilter(text string) {
	f := ParseFilter(text)
	for _, t := range []*timeline{o.recording, o.fork} {
		if t != nil {
			t.shown.setFilter(f)
		}
	}
	o.changed = true
}
