package audit

import (
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
)

// Events of equal times are in this order.
const (
	rankThere = iota // objects at the beginning
	rankStart
	rankSilence
	rankRelease
	rankFailure
	rankRequest
	rankChange
)

// emitter turns items into events and emits them in the order of time.
type emitter struct {
	merger   *merger
	history  *history
	namer    *namer
	attempts attempts.Repeats
	requests itemKind      // which requests count
	lag      time.Duration // how long a change waits for facts that later changes reveal
	waiting  sources.Waiting
	begins   bool      // while the objects of the beginning are added
	now      time.Time // when the last item was logged
	out      func(sources.Event)
}

// newEmitter returns an empty emitter. patience limits how late an item may be logged.
func newEmitter(patience time.Duration, out func(sources.Event)) *emitter {
	t := &emitter{namer: newNamer(), requests: requestItem, out: out}
	t.history = newHistory(func(ev sources.Event) {
		r := rankChange
		if t.begins {
			r = rankThere
		}
		t.add(r, ev)
		t.namer.note(ev)
	})
	t.merger = newMerger(patience, func(e *entry) {
		t.history.step(e)
		t.upTo(e.time)
	})
	return t
}

// add adds an event, which waits for its turn.
func (t *emitter) add(rank int, evs ...sources.Event) {
	for _, ev := range evs {
		t.waiting.Add(rank, ev, 0)
	}
}

// takeItem processes an item.
func (t *emitter) takeItem(it *item) {
	t.saw(it.read)
	switch {
	case it.what == changeItem && t.merger.repeats(it.change):
		t.history.asked(it.change)
	case it.what == changeItem:
		t.merger.add(it.change, t.now, it.cost)
		t.merger.advance(t.now)
	case t.now.Sub(it.event.Time) <= soon:
		t.know(it)
	}
}

// saw records the time of a line.
func (t *emitter) saw(at time.Time) {
	if at.After(t.now) {
		t.now = at
	}
}

// know processes an action of kube-scheduler.
func (t *emitter) know(it *item) {
	switch it.what {
	case failureItem:
		t.attempt(it.event)
	case nameItem:
		t.named(it.event)
	case t.requests, refusalItem:
		t.add(rankRequest, it.event)
	}
}

func (t *emitter) attempt(ev sources.Event) {
	if t.attempts.First(ev, t.now) {
		t.add(rankFailure, ev)
	}
}

func (t *emitter) named(ev sources.Event) {
	t.namer.add(ev)
	t.lag = boundSoon
}

// upTo emits the events from before a moment that the changes have reached.
func (t *emitter) upTo(now time.Time) {
	t.namer.upTo(now, t.attempt)
	t.history.forget(now)
	for {
		first, some := t.waiting.First()
		if !some || !first.Time.Before(now.Add(-t.lag)) {
			return
		}
		t.waiting.Take()
		t.hand(first)
	}
}

// finish emits the rest.
func (t *emitter) finish() {
	t.merger.finish()
	end := t.merger.last
	if t.namer.last.After(end) {
		end = t.namer.last
	}
	t.namer.upTo(end.Add(2*boundSoon), t.attempt)
	for first, some := t.waiting.First(); some; first, some = t.waiting.First() {
		t.waiting.Take()
		t.hand(first)
	}
}

// hand emits ev. A refused patch has only its pod's name: it concerns the last deleted pod with that name.
func (t *emitter) hand(ev sources.Event) {
	if f, is := ev.Fact.(*sources.Refused); is && f.UID == "" {
		of := *f
		of.UID = t.history.ended[f.Pod]
		ev.Fact = &of
	}
	t.out(ev)
}
