package shadow

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// Feed produces the events that an engine plays: a source's events and, if the source does not
// contain the scheduler's moves, a shadow's moves between them. Events that were handed out do not
// change.
type Feed struct {
	Events []sources.Event

	End time.Time
	// live is true if the source is still growing. unread is true for a recording that was not read
	// to its end; then events are made only up to End.
	live, unread bool
	// logged is true while a live source has a scheduler's log that contains the outcome of every
	// attempt.
	logged bool
	// advancedTo is how far the shadow of a live source, or the rerun, has run.
	advancedTo time.Time
	Shadow     *shadow // nil if the source contains the moves, or in a rerun
	rerun      *rerun  // replaces the shadow if nothing corrects the model; nil after the end
	// next is the event that the rerun applies next, nil after the last one. more returns the
	// events after it. Both are also used for a long recording that is handed out unchanged.
	next *sources.Event
	more func() (sources.Event, bool)
	Err  error  // why there is no shadow, or why reading a long recording failed
	stop func() // stops reading a long recording, or nil
}

// NewFeed returns the feed of a recording. cfg configures the modelled scheduler.
func NewFeed(rec *sources.Recording, cfg *schedulerconfig.Config) *Feed {
	events := rec.Events
	logged := cluster.HasFact[*sources.Logged](events)
	f := &Feed{End: rec.End}
	if rec.Unread {
		f.unread, f.End = true, rec.End.Add(-evidence.Lag)
	}
	if cluster.HasFact[*sources.Move](events) && !logged || len(events) == 0 {
		if f.Events = rec.Events; rec.Reread != nil {
			f.Events, f.more = nil, f.eventsOf(rec)
		}
		return f
	}
	if (logged || cluster.HasFact[*sources.Dumped](events)) && !rec.Rerun && !slices.ContainsFunc(events, cluster.IsPod) {
		f.more = verdict.MovesFromAttempts(events, cfg.Queue.PodMaxInUnschedulablePods+queue.LeftoverFlushInterval, f.eventsOf(rec))
		return f
	}
	emit := func(ev sources.Event) { f.Events = append(f.Events, ev) }
	starts := cluster.HasFact[*sources.SchedulerStarted](events)
	if rec.Rerun {
		f.rerun, f.more = newRerun(cfg, emit), f.eventsOf(rec)
		f.lookAhead()
		if !starts {
			f.Err = f.rerun.start(events[0].Time)
		}
		return f
	}
	attached := cluster.HasFact[*sources.Attached](events)
	requests := attached && !cluster.HasFailures(events) || logged || cluster.HasFact[*sources.StatusPatched](events) || cluster.ReportsNoFailures(events)
	more := f.eventsOf(rec)
	if logged || cluster.HasFact[*sources.Dumped](events) {
		more = verdict.AddMovesOfUnknownPods(events, more)
	}
	f.Shadow = newShadow(cfg, events, more, requests, emit)
	f.Shadow.oracle.channels.Until = rec.End
	if !starts && !attached {
		if err := f.Shadow.start(events[0].Time); err != nil {
			f.Close()
			failed := &Feed{Err: err}
			if rec.Reread == nil {
				failed.Events = rec.Events // shown without a queue
			}
			return failed
		}
	}
	return f
}

// eventsOf returns an iterator over the events of rec.
func (f *Feed) eventsOf(rec *sources.Recording) func() (sources.Event, bool) {
	if rec.Reread == nil {
		return evidence.Iterate(rec.Events)
	}
	next, stop := iter.Pull2(sources.Ahead(context.Background(), rec.Reread))
	f.stop = stop
	return func() (sources.Event, bool) {
		ev, err, some := next()
		if err != nil {
			f.Err, some = err, false
		}
		return ev, some
	}
}

// makeMore produces more events from the source. It returns false if there are none left.
func (f *Feed) makeMore() bool {
	if f.live || f.unread && f.Shadow != nil {
		return f.makeMoreLive()
	}
	if f.rerun != nil {
		f.makeMoreRerun()
		return true
	}
	if f.Shadow == nil {
		return f.makeMoreUnchanged()
	}
	if f.Shadow.oracle.future.First() == nil {
		return false
	}
	if err := f.Shadow.applyNext(); err != nil {
		f.Err = err
	}
	if f.Shadow.oracle.future.First() == nil {
		f.Shadow.advance(f.End)
		f.Shadow.deliverRemaining(f.End)
		f.Close()
	}
	return true
}

// makeMoreUnchanged hands out the source's next event unchanged.
func (f *Feed) makeMoreUnchanged() bool {
	if f.more == nil {
		return false
	}
	if f.next == nil {
		f.lookAhead()
	}
	if f.next == nil || f.unread && f.next.Time.After(f.End) {
		return false
	}
	f.Events, f.next = append(f.Events, *f.next), nil
	return true
}

// rerunSlice limits how much model time of a rerun passes in one step.
const rerunSlice = time.Minute

// makeMoreRerun produces more events of a rerun, up to the source's next event or the end, but for
// no more than rerunSlice: in a full cluster the scheduler has much to do even if nothing happens.
func (f *Feed) makeMoreRerun() {
	to := f.End
	if f.next != nil {
		to = f.next.Time
	}
	if left := to.Sub(f.advancedTo); left > rerunSlice && left <= LongestGap && !f.advancedTo.IsZero() {
		f.advancedTo = f.advancedTo.Add(rerunSlice)
		f.rerun.advance(f.advancedTo)
		return
	}
	f.advancedTo = to
	if f.next == nil {
		f.rerun.advance(to)
		f.Close()
		return
	}
	if err := f.rerun.apply(*f.next); err != nil {
		f.Err = err
	}
	f.lookAhead()
}

// lookAhead reads the source's next event.
func (f *Feed) lookAhead() {
	f.next = nil
	if ev, some := f.more(); some {
		f.next = &ev
	}
}

// Close stops the shadow or the rerun. Events already produced remain.
func (f *Feed) Close() {
	f.next, f.more = nil, nil
	if f.stop != nil {
		f.stop()
	}
	if f.Shadow != nil {
		f.Shadow.end()
	}
	if f.rerun != nil {
		f.rerun.close()
		f.rerun = nil
	}
}

// EndWith stops production when ctx ends, even during a long quiet time. Events produced after that
// are invalid.
func (f *Feed) EndWith(ctx context.Context) {
	stopped := func() bool { return ctx.Err() != nil }
	for _, l := range f.locals() {
		if l.stopped = stopped; l.driver != nil {
			l.driver.stopped = stopped
		}
	}
}

// IsLive reports whether the source is still growing.
func (f *Feed) IsLive() bool { return f.live }

// Scheduler returns the model's local scheduler, or nil if there is none. Its objects are
// approximately those at the last event produced.
func (f *Feed) Scheduler() *cycle.Scheduler {
	if f.Shadow == nil || f.Shadow.driver == nil {
		return nil
	}
	return f.Shadow.driver.Scheduler
}

// locals returns the local schedulers of f.
func (f *Feed) locals() (all []*local) {
	if f.Shadow != nil {
		all = append(all, &f.Shadow.local)
	}
	if f.rerun != nil {
		all = append(all, &f.rerun.local)
	}
	return all
}

// HasEvent reports whether there is an event with that index, producing it if necessary.
func (f *Feed) HasEvent(i int) bool {
	for i >= len(f.Events) {
		if !f.makeMore() {
			return false
		}
	}
	return true
}

// NewLiveFeed returns a feed of a source without an end.
func NewLiveFeed(cfg *schedulerconfig.Config) *Feed {
	f := &Feed{live: true}
	f.Shadow = newShadow(cfg, nil, nil, true, func(ev sources.Event) { f.Events = append(f.Events, ev) })
	return f
}

// Arrive adds the events that a stream has delivered by now. An event that is too late for its
// place among the events already produced is moved to End. A late Event of a failed attempt is
// dropped if the model has made that attempt or a later one, and always if the scheduler's log
// contains attempts. While status says that the stream or one of its watches is broken, a missing
// trace proves nothing.
func (f *Feed) Arrive(events []sources.Event, now time.Time, status sources.Status) {
	heard := f.Shadow.oracle.channels
	heard.Gaps.Update(now, status)
	heard.Until = now
	for _, ev := range events {
		switch fact := ev.Fact.(type) {
		case *sources.Logged:
			f.logged = fact.Verbosity >= sources.AttemptsVerbosity
		case *sources.FailedAttempt:
			if fact.Log || f.Shadow.oracle.future.HasOtherScheduler(fact.UID) {
				break
			}
			if _, missed := heard.Gaps.Missed(ev.Time, sources.EventsWatch); !missed && !f.logged {
				// Otherwise the gap explains the delay.
				heard.Events.Record(now, ev.Time)
			}
			// The Event arrives only now, and the model may already have made that attempt or a
			// later one.
			if f.logged || ev.Time.Before(f.End) && f.Shadow.oracle.tried.See(ev.Time, fact.UID, evidence.UnrecordedSlack) {
				if fact.Version != "" {
					heard.SetRecorded(fact.UID, fact.Recorded)
				}
				continue
			}
		}
		if ev.Time.Before(f.End) {
			ev.Time = f.End
		}
		f.Shadow.oracle.future.Add(ev)
	}
	if !heard.Config.AsyncAPICalls && !f.logged {
		f.Shadow.oracle.future.MoveLatePatches(answerDelay + f.Shadow.oracle.pace.Attempt(nominalTime(f.Shadow.objects.Count("Node"))))
	}
	heard.Events.AddConcurrent(f.Shadow.oracle.future.BoundSince(heard.Events.LastAttempt()), float64(heard.Config.ClientQPS))
	f.ExtendTo(heard.Events.ShownUntil(now, status.Attached, evidence.Lag))
}

// ExtendTo allows events to be produced up to end, if that is later than End.
func (f *Feed) ExtendTo(end time.Time) {
	if end.After(f.End) {
		f.End = end
	}
}

// ReadTo records that a recording has been read up to at, which allows more events to be produced.
func (f *Feed) ReadTo(at time.Time) {
	if f.ExtendTo(at.Add(-evidence.Lag)); f.Shadow != nil {
		f.Shadow.oracle.channels.Until = f.End.Add(evidence.Lag)
	}
}

// makeMoreLive produces more events of a stream and runs the model, up to End. It returns false at
// End.
func (f *Feed) makeMoreLive() bool {
	if ev := f.Shadow.oracle.future.First(); ev != nil && !ev.Time.After(f.End) {
		if err := f.Shadow.applyNext(); err != nil {
			f.Err = err
		}
		return true
	}
	if !f.advancedTo.Before(f.End) {
		return false
	}
	f.Shadow.advance(f.End)
	f.advancedTo = f.End
	return true
}
