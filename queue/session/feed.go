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

	source []sources.Event // what the shadow has not taken in yet
	end    time.Time
	// live is true if the source goes on. Then end is the moment up to which it is played.
	live bool
	// advanced is the moment up to which the shadow is, of a live source, or the rerun.
	advanced time.Time
	shadow   *shadow // nil if the source tells the moves itself
	rerun    *rerun  // in the shadow's place, where nothing corrects the model. Nil once it is at the end
	failed   error   // why there is no shadow
}

// newFeed returns the feed of a recording. cfg is the modelled scheduler's.
func newFeed(rec *sources.Recording, cfg *cycle.Config) *feed {
	events := rec.Events
	if tells[*sources.Move](events) || len(events) == 0 {
		return &feed{events: events}
	}
	f := &feed{source: events, end: rec.End}
	emit := func(ev sources.Event) { f.events = append(f.events, ev) }
	if rec.Rerun {
		f.rerun = newRerun(cfg, emit)
		if !tells[*sources.SchedulerStarted](events) {
			f.failed = f.rerun.start(events[0].Time)
		}
		return f
	}
	attached := tells[*sources.Attached](events)
	f.shadow, f.failed = newShadow(cfg, events[0].Time, tells[*sources.SchedulerStarted](events) || attached, tells[*sources.StatusPatched](events) || attached, emit)
	if f.failed != nil {
		f.events, f.source = events, nil // it is shown without any queue
		return f
	}
	f.shadow.knows = rec.End
	return f
}

// tells reports whether any of events holds a fact of type F.
func tells[F sources.Fact](events []sources.Event) bool {
	return slices.ContainsFunc(events, func(ev sources.Event) bool {
		_, ok := ev.Fact.(F)
		return ok
	})
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
	if len(f.source) == 0 {
		return false
	}
	if err := f.shadow.apply(f.source); err != nil {
		f.failed = err
	}
	if f.source = f.source[1:]; len(f.source) == 0 {
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
		f.shadow.close()
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
