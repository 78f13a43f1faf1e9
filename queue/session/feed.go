package session

import (
	"slices"
	"time"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// feed is what an engine follows: a source's events, and where the source does not tell the scheduler's
// moves, those of a shadow between them. What was handed out stays as it is.
type feed struct {
	events []sources.Event

	source []sources.Event // what is to be handed out, or the rerun has not taken in yet. A shadow has its own
	end    time.Time
	// live is true if the source goes on. Then end is the moment up to which it is played.
	live bool
	// advanced is the moment up to which the shadow is, of a live source, or the rerun.
	advanced time.Time
	shadow   *shadow // nil if the source tells the moves itself, or another scheduler makes them
	rerun    *rerun  // in the shadow's place, where nothing corrects the model. Nil once it is at the end
	failed   error   // why there is no shadow
}

// newFeed returns the feed of a recording. cfg is the modelled scheduler's.
func newFeed(rec *sources.Recording, cfg *cycle.Config) *feed {
	events := rec.Events
	if tells[*sources.Move](events) || len(events) == 0 {
		return &feed{events: events}
	}
	f := &feed{end: rec.End}
	emit := func(ev sources.Event) { f.events = append(f.events, ev) }
	starts := tells[*sources.SchedulerStarted](events)
	if rec.Rerun {
		f.rerun, f.source = newRerun(cfg, emit), events
		if !starts {
			f.failed = f.rerun.start(events[0].Time)
		}
		return f
	}
	attached := tells[*sources.Attached](events)
	f.shadow = newShadow(cfg, events, tells[*sources.StatusPatched](events) || attached, emit)
	f.shadow.oracle.channels.until = rec.End
	if !starts && !attached {
		if err := f.shadow.start(events[0].Time); err != nil {
			return &feed{events: events, failed: err} // it is shown without any queue
		}
	}
	return f
}

// more makes more events from the source, if there are any left.
func (f *feed) more() bool {
	if f.live {
		return f.moreLive()
	}
	if f.rerun != nil {
		f.again()
		return true
	}
	if f.shadow == nil || f.shadow.oracle.future.First() == nil {
		return false
	}
	if err := f.shadow.next(); err != nil {
		f.failed = err
	}
	if f.shadow.oracle.future.First() == nil {
		f.shadow.advance(f.end)
		f.close()
	}
	return true
}

// rerunSlice is how much time of a rerun passes at once at the most, in model time.
const rerunSlice = time.Minute

// again makes more events of a rerun: up to the source's next event or to the end, but no more than a slice, since
// a scheduler of a full cluster has much to do even if nothing happens.
func (f *feed) again() {
	to := f.end
	if len(f.source) > 0 {
		to = f.source[0].Time
	}
	if left := to.Sub(f.advanced); left > rerunSlice && left <= longestGap && !f.advanced.IsZero() {
		f.advanced = f.advanced.Add(rerunSlice)
		f.rerun.advance(f.advanced)
		return
	}
	f.advanced = to
	if len(f.source) == 0 {
		f.rerun.advance(to)
		f.close()
		return
	}
	if err := f.rerun.apply(f.source[0]); err != nil {
		f.failed = err
	}
	f.source = f.source[1:]
}

// close ends the shadow. What was made stays.
func (f *feed) close() {
	f.source = nil
	if f.shadow != nil {
		f.shadow.end()
	}
	if f.rerun != nil {
		f.rerun.close()
		f.rerun = nil
	}
}

// has reports whether there is an event with that index, making it if need be.
func (f *feed) has(i int) bool {
	for i >= len(f.events) {
		if !f.more() {
			return false
		}
	}
	return true
}

// newLiveFeed returns a feed without an end. With told, the source tells the scheduler's moves itself.
func newLiveFeed(cfg *cycle.Config, told bool) *feed {
	f := &feed{live: true}
	if told {
		return f
	}
	f.shadow = newShadow(cfg, nil, true, func(ev sources.Event) { f.events = append(f.events, ev) })
	return f
}

// arrive takes in what a stream has told by now. What was told too late to be where it belongs has its
// place now, but for an attempt, of which the model has made up its mind.
func (f *feed) arrive(events []sources.Event, now time.Time) {
	for _, ev := range events {
		if ev.Time.Before(f.end) {
			if attempt, ok := ev.Fact.(*sources.FailedAttempt); ok {
				if f.shadow != nil && attempt.Version != "" {
					f.shadow.oracle.channels.recorded(attempt.UID, attempt.Recorded)
				}
				continue
			}
			ev.Time = f.end
		}
		if f.shadow != nil {
			f.shadow.oracle.future.Add(ev)
		} else {
			f.source = append(f.source, ev)
		}
	}
	if f.shadow != nil {
		f.shadow.oracle.channels.until = now
	} else if len(events) > 0 {
		slices.SortStableFunc(f.source, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	}
	f.goOn(now.Add(-Lag))
}

// goOn lets what comes be made up to end.
func (f *feed) goOn(end time.Time) {
	if end.After(f.end) {
		f.end = end
	}
}

// moreLive makes more events of what is past, and lets the model go on up to there.
func (f *feed) moreLive() bool {
	if f.shadow == nil {
		if len(f.source) == 0 || f.source[0].Time.After(f.end) {
			return false
		}
		f.events, f.source = append(f.events, f.source[0]), f.source[1:]
		return true
	}
	if ev := f.shadow.oracle.future.First(); ev != nil && !ev.Time.After(f.end) {
		if err := f.shadow.next(); err != nil {
			f.failed = err
		}
		return true
	}
	if !f.advanced.Before(f.end) {
		return false
	}
	f.shadow.advance(f.end)
	f.advanced = f.end
	return true
}

// tells reports whether any of events holds a fact of type F.
func tells[F sources.Fact](events []sources.Event) bool {
	return slices.ContainsFunc(events, func(ev sources.Event) bool {
		_, ok := ev.Fact.(F)
		return ok
	})
}
