package shadow

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// Feed is what an engine follows: a source's events, and where the source does not tell the scheduler's
// moves, those of a shadow between them. What was handed out stays as it is.
type Feed struct {
	Events []sources.Event

	End time.Time
	// live is true if the source goes on, and unread of a recording that was not read to its end. Then End is the moment up to which
	// its events are made.
	live, unread bool
	// logged is true while a live source has a scheduler's log that tells how every attempt ends.
	logged bool
	// advancedTo is how far the shadow of a live source has run, or the rerun.
	advancedTo time.Time
	Shadow     *shadow // nil if the source tells the moves itself, or another scheduler makes them
	rerun      *rerun  // in the shadow's place, where nothing corrects the model. Nil once it is at the end
	// next is what the rerun takes in next, nil once that was the last, and more returns what is behind it. They are also of a
	// long recording that is handed out as it is told.
	next *sources.Event
	more func() (sources.Event, bool)
	Err  error  // why there is no shadow, or why a long recording can't be read to its end
	stop func() // ends the reading of a long recording, or nil
}

// NewFeed returns the feed of a recording. cfg is the modelled scheduler's.
func NewFeed(rec *sources.Recording, cfg *schedulerconfig.Config) *Feed {
	events := rec.Events
	logged := cluster.HasFact[*sources.Logged](events)
	f := &Feed{End: rec.End}
	if rec.Unread {
		f.unread, f.End = true, rec.End.Add(-channels.Lag)
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
	f.Shadow.follows, f.Shadow.oracle.channels.Until = attached, rec.End
	if !starts && !attached {
		if err := f.Shadow.start(events[0].Time); err != nil {
			f.Close()
			failed := &Feed{Err: err}
			if rec.Reread == nil {
				failed.Events = rec.Events // they are shown without any queue
			}
			return failed
		}
	}
	return f
}

// eventsOf returns the events of rec one after the other.
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

// makeMore makes more events from the source, and returns false if there are none left to make.
func (f *Feed) makeMore() bool {
	if f.live || f.unread && f.Shadow != nil {
		return f.makeMoreLive()
	}
	if f.rerun != nil {
		f.makeMoreRerun()
		return true
	}
	if f.Shadow == nil {
		return f.makeMoreAsTold()
	}
	if f.Shadow.oracle.future.First() == nil {
		return false
	}
	if err := f.Shadow.takeInNext(); err != nil {
		f.Err = err
	}
	if f.Shadow.oracle.future.First() == nil {
		f.Shadow.advance(f.End)
		f.Shadow.hearLast(f.End)
		f.Close()
	}
	return true
}

// makeMoreAsTold hands out the source's next event as it is.
func (f *Feed) makeMoreAsTold() bool {
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

// rerunSlice is how much time of a rerun passes at once at the most, in model time.
const rerunSlice = time.Minute

// makeMoreRerun makes more events of a rerun: up to the source's next event or to the end, but no more than a slice, since
// a scheduler of a full cluster has much to do even if nothing happens.
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

// Close ends the shadow or the rerun. Events that were made stay.
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

// EndWith stops playing once ctx ends, also in the middle of a quiet time. What the feed hands out then is not right.
func (f *Feed) EndWith(ctx context.Context) {
	stopped := func() bool { return ctx.Err() != nil }
	for _, l := range f.locals() {
		if l.stopped = stopped; l.driver != nil {
			l.driver.stopped = stopped
		}
	}
}

// IsLive reports whether the source goes on.
func (f *Feed) IsLive() bool { return f.live }

// Scheduler returns the local scheduler of the model, which has the objects of about the last event made. It is nil if there is none.
func (f *Feed) Scheduler() *cycle.Scheduler {
	if f.Shadow == nil || f.Shadow.driver == nil {
		return nil
	}
	return f.Shadow.driver.Scheduler
}

// locals returns the schedulers that are run here.
func (f *Feed) locals() (all []*local) {
	if f.Shadow != nil {
		all = append(all, &f.Shadow.local)
	}
	if f.rerun != nil {
		all = append(all, &f.rerun.local)
	}
	return all
}

// HasEvent reports whether there is an event with that index, making it if need be.
func (f *Feed) HasEvent(i int) bool {
	for i >= len(f.Events) {
		if !f.makeMore() {
			return false
		}
	}
	return true
}

// NewLiveFeed returns a feed without an end.
func NewLiveFeed(cfg *schedulerconfig.Config) *Feed {
	f := &Feed{live: true}
	f.Shadow = newShadow(cfg, nil, nil, true, func(ev sources.Event) { f.Events = append(f.Events, ev) })
	f.Shadow.follows = true
	return f
}

// Arrive takes in what a stream has told by now. An event that comes too late for its place among those made is put
// at End; an Event of a failed attempt that comes too late is dropped if the model has had that one or a later one, and
// always if the scheduler's log tells of attempts. While status says that the stream, or one watch of its, hears nothing, that silence tells
// nothing.
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
			if _, missed := heard.Gaps.Missed(ev.Time, sources.EventsWatch); !missed && !f.logged { // or it came late for that
				heard.Events.Record(now, ev.Time)
			}
			// It is heard of only now, and the model may have had that attempt, or a later one.
			if f.logged || ev.Time.Before(f.End) && f.Shadow.oracle.tried.See(ev.Time, fact.UID, channels.UnrecordedSlack) {
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
	f.ExtendTo(heard.Events.ShownUntil(now, status.Attached, channels.Lag))
}

// ExtendTo lets events be made up to end, if that is later than End.
func (f *Feed) ExtendTo(end time.Time) {
	if end.After(f.End) {
		f.End = end
	}
}

// ReadTo has more be made of a recording that was read up to that moment.
func (f *Feed) ReadTo(at time.Time) {
	if f.ExtendTo(at.Add(-channels.Lag)); f.Shadow != nil {
		f.Shadow.oracle.channels.Until = f.End.Add(channels.Lag)
	}
}

// makeMoreLive makes more events of a stream, up to End, and lets the model run up to there. It returns false once it
// is there.
func (f *Feed) makeMoreLive() bool {
	if ev := f.Shadow.oracle.future.First(); ev != nil && !ev.Time.After(f.End) {
		if err := f.Shadow.takeInNext(); err != nil {
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
