package audit

import (
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
)

// In this order events of one time are told.
const (
	rankThere = iota // what was there at the beginning
	rankStart
	rankSilence
	rankRelease
	rankFailure
	rankRequest
	rankChange
)

// teller tells what items come to, in the order of time.
type teller struct {
	weaver   *weaver
	history  *history
	namer    *namer
	attempts attempts.Told
	requests itemKind      // which requests count
	lag      time.Duration // how long a change waits, for what is found out by the changes behind it
	waiting  sources.Waiting
	begins   bool      // while it is told what was there at the beginning
	now      time.Time // when the last item was told
	tell     func(sources.Event)
}

// newTeller returns a teller to which nothing was told. patience is how long after a moment something may be told of it.
func newTeller(patience time.Duration, tell func(sources.Event)) *teller {
	t := &teller{namer: newNamer(), requests: toldRequest, tell: tell}
	t.history = newHistory(func(ev sources.Event) {
		r := rankChange
		if t.begins {
			r = rankThere
		}
		t.add(r, ev)
		t.namer.note(ev)
	})
	t.weaver = newWeaver(patience, func(e *entry) {
		t.history.step(e)
		t.upTo(e.time)
	})
	return t
}

// add has an event wait for its turn.
func (t *teller) add(rank int, evs ...sources.Event) {
	for _, ev := range evs {
		t.waiting.Add(rank, ev, 0)
	}
}

// takeItem takes in an item.
func (t *teller) takeItem(it *item) {
	t.saw(it.read)
	switch {
	case it.what == toldChange && t.weaver.repeats(it.change):
		t.history.asked(it.change)
	case it.what == toldChange:
		t.weaver.add(it.change, t.now, it.cost)
		t.weaver.advance(t.now)
	case t.now.Sub(it.event.Time) <= soon:
		t.know(it)
	}
}

// saw takes in when a line was told.
func (t *teller) saw(at time.Time) {
	if at.After(t.now) {
		t.now = at
	}
}

// know takes in what kube-scheduler did.
func (t *teller) know(it *item) {
	switch it.what {
	case toldFailure:
		t.attempt(it.event)
	case toldName:
		t.named(it.event)
	case t.requests, toldRefusal:
		t.add(rankRequest, it.event)
	}
}

func (t *teller) attempt(ev sources.Event) {
	if t.attempts.First(ev, t.now) {
		t.add(rankFailure, ev)
	}
}

func (t *teller) named(ev sources.Event) {
	t.namer.add(ev)
	t.lag = boundSoon
}

// upTo tells what was before that moment, which changes have come up to.
func (t *teller) upTo(now time.Time) {
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

// finish tells the rest.
func (t *teller) finish() {
	t.weaver.finish()
	end := t.weaver.last
	if t.namer.last.After(end) {
		end = t.namer.last
	}
	t.namer.upTo(end.Add(2*boundSoon), t.attempt)
	for first, some := t.waiting.First(); some; first, some = t.waiting.First() {
		t.waiting.Take()
		t.hand(first)
	}
}

// hand hands ev on. A patch that was refused says only by its name of which pod it was: of the last one that went.
func (t *teller) hand(ev sources.Event) {
	if f, is := ev.Fact.(*sources.Refused); is && f.UID == "" {
		of := *f
		of.UID = t.history.ended[f.Pod]
		ev.Fact = &of
	}
	t.tell(ev)
}
