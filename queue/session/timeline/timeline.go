package timeline

import (
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// Timeline is a recording, a live cluster or a what-if, run through the queue. Its history reaches from Start to Executed;
// its cursor is at the moment shown.
type Timeline struct {
	*history.History
	// Engine is in the state of Executed, the moment up to which all events were executed.
	Engine   *Engine
	Executed time.Time
	// Start and End limit the moments that can be shown. A fork has no End: it can be played as far as wanted.
	Start, End time.Time
	// KeptSince is the time before which the history was dropped. Zero: nothing was dropped.
	KeptSince time.Time

	opinions *opinions // nil of a fork and of a rerun

	// Of a recording: its events, how many of them were executed, and earlier states of the engine.
	source      recordingSource
	Feed        *shadow.Feed
	Next        int
	checkpoints []checkpoint
	factBytes   int // the memory taken by the executed events in Feed: see factSize
	// Counts are the queue's sizes at each executed *sources.Counts.
	Counts []localCounts

	// Silences are the times without any scheduler activity, up to Executed.
	Silences Silences

	// Marks are the ones that the user set here, in no order.
	Marks []Mark

	// Of a fork, else nil: where it started, the user's actions, and its place among the forks.
	Forked   *forkStart
	Injected []injection
	Branch   *branch
}

// recordingSource is what the timeline of a recording was made of. rec is nil for a live cluster.
type recordingSource struct {
	rec     *sources.Recording
	cfg     *schedulerconfig.Config
	plugins queue.Plugins
	opts    Options // without OpenArchive if there is no archive
}

// New returns a timeline of rec that has executed nothing.
func New(rec *sources.Recording, cfg *schedulerconfig.Config, plugins queue.Plugins) *Timeline {
	t := &Timeline{History: history.New(), Feed: shadow.NewFeed(rec, cfg), source: recordingSource{rec: rec, cfg: cfg, plugins: plugins}}
	if t.Start, t.End = Span(rec); rec.Unread {
		t.ReadTo(rec.End)
	}
	t.setEngine(newEngine(cfg, plugins, t.Start))
	if !rec.Rerun {
		t.opinions = newOpinions(cfg, t.Feed)
	}
	return t
}

// NewLive returns a timeline of a live cluster that starts now.
func NewLive(cfg *schedulerconfig.Config, opts Options, now time.Time) *Timeline {
	t := &Timeline{History: history.New(), Feed: shadow.NewLiveFeed(cfg), Start: now, End: now}
	t.setEngine(newEngine(cfg, opts.Plugins, now))
	t.opinions = newOpinions(cfg, t.Feed)
	return t
}

// Options returns the queue options of the scheduler at Executed.
func (t *Timeline) Options() queue.Options { return t.Engine.Config.Queue }

// setEngine makes e the engine that writes the history.
func (t *Timeline) setEngine(e *Engine) {
	e.Board, e.Emit = t.Head(), t.Append
	t.Engine = e
}

// ReadTo extends End to at, the time up to which the recording has been read.
func (t *Timeline) ReadTo(at time.Time) {
	if t.Feed.ReadTo(at); t.Feed.End.After(t.Start) {
		t.End = t.Feed.End
	} else {
		t.End = t.Start
	}
}

// GoTo executes what happens up to at and shows that moment. at is limited to Start and End.
func (t *Timeline) GoTo(at time.Time) {
	if t.Forked == nil && at.After(t.End) {
		at = t.End
	}
	if at.Before(t.Start) {
		at = t.Start
	}
	if !at.Before(t.Executed) { // at Executed itself, more events may be due
		t.Execute(at)
	}
	t.SetCursor(t.ChangesBy(at))
}

// GoToStart shows the first moment; in a fork, the one before the first action in it.
func (t *Timeline) GoToStart() {
	t.GoTo(t.Start)
	if t.Forked != nil {
		t.SetCursor(t.Forked.History.ChangeCount())
	}
}

// Execute executes everything that is due up to at, inclusive.
func (t *Timeline) Execute(at time.Time) {
	if t.Forked == nil {
		for t.HasEventBy(at) {
			t.ExecuteNext()
		}
		if t.Feed.IsLive() && !t.Feed.HasEvent(t.Next) {
			t.opinions.pass(at)
			t.insert(t.opinions.judge(t.Engine, at))
			for t.Feed.HasEvent(t.Next) && !t.Feed.Events[t.Next].Time.After(at) {
				t.ExecuteNext()
			}
		}
	} else if d := t.Engine.Driver; d != nil {
		d.Advance(at)
	} else {
		for {
			tick, backoff, leftover := t.Engine.Ticks.Next(t.Executed)
			if tick.After(at) {
				break
			}
			t.Engine.runFlushes(tick, backoff, leftover)
			t.Executed = tick
		}
	}
	t.Executed = at
}

// ExecuteFor is Execute for a recording. It stops early after d of real time, or once interrupted, which may be nil,
// returns true. It reports whether it reached at.
func (t *Timeline) ExecuteFor(d time.Duration, at time.Time, interrupted func() bool) bool {
	for began := time.Now(); t.HasEventBy(at); t.ExecuteNext() {
		if time.Since(began) > d || interrupted != nil && interrupted() {
			return false
		}
	}
	t.Execute(at)
	return true
}

// HasEventBy reports whether the recording's next event is due at that time or before.
func (t *Timeline) HasEventBy(at time.Time) bool {
	return t.Feed.HasEvent(t.Next) && !t.Feed.Events[t.Next].Time.After(at)
}

// ExecuteNext executes the recording's next event. There must be one.
func (t *Timeline) ExecuteNext() {
	if t.Next%checkpointEvery == 0 {
		t.checkpoints = append(t.checkpoints, checkpoint{t.Engine.Clone(), t.Head().Copy(), t.Next})
	}
	ev := t.Feed.Events[t.Next]
	t.factBytes += t.factSize(ev)
	_, given := ev.Fact.(*opinion.Given)
	if !given {
		t.opinions.observe(t.Engine, ev)
	}
	t.Engine.apply(ev)
	if _, is := ev.Fact.(*sources.Counts); is {
		t.Counts = append(t.Counts, localCounts{t.Head().Counts(), t.ChangeCount()})
	}
	t.Silences.Add(ev)
	t.Executed = ev.Time
	t.Next++
	if !given {
		t.insert(t.opinions.judge(t.Engine, ev.Time))
	}
}

// Unserved returns the pods that no scheduler works on at the end of what is executed. They are in no tier of the board.
func (t *Timeline) Unserved() []*board.Pod { return t.opinions.unserved() }

// insert makes events the next ones of the recording.
func (t *Timeline) insert(events []sources.Event) {
	t.Feed.Events = slices.Insert(t.Feed.Events, t.Next, events...)
}

// executeMore executes the recording's next event, or in a fork what is due next, if that begins before until. It returns
// false if nothing is left.
func (t *Timeline) executeMore(until time.Time) bool {
	switch {
	case t.Forked == nil && t.Feed.HasEvent(t.Next):
		t.ExecuteNext()
	case t.Forked != nil && t.Engine.Driver != nil && t.Executed.Before(until):
		t.Executed = t.Engine.Driver.Due()
		t.Engine.Driver.Advance(t.Executed)
	case t.Forked != nil && t.Executed.Before(until):
		tick, backoff, leftover := t.Engine.Ticks.Next(t.Executed)
		t.Engine.runFlushes(tick, backoff, leftover)
		t.Executed = tick
	default:
		return false
	}
	return true
}

// StepForward shows the next move and returns its time, or false if there is none. In a fork, it looks for a move up to
// limit after Executed.
func (t *Timeline) StepForward(limit time.Duration) (time.Time, bool) {
	want, executed, changes := t.Moved, t.Executed, t.ChangeCount()
	until := executed.Add(limit)
	for t.MoveCount() <= want {
		if t.executeMore(until) {
			continue
		}
		t.undoExecution(executed, changes)
		return time.Time{}, false
	}
	next := t.Move(want)
	t.SetCursor(next.Change + 1)
	return next.Time, true
}

// StepBack shows the move before the last one shown and returns its time. From the first move it goes to the start; there
// it returns false.
func (t *Timeline) StepBack() (time.Time, bool) {
	_, first := t.Oldest()
	if t.Forked != nil {
		first = t.Forked.History.Moved
	}
	switch {
	case t.Moved <= first:
		return time.Time{}, false
	case t.Moved == first+1 && t.Forked != nil:
		t.GoToStart()
		return t.Start, true
	case t.Moved == first+1:
		t.SetCursor(min(t.ChangesBy(t.Start), t.Move(first).Change))
		return t.Start, true
	}
	last := t.Move(t.Moved - 2)
	t.SetCursor(last.Change + 1)
	return last.Time, true
}

// NextMove returns the time of the first move after the moment shown, if it is known without executing anything.
func (t *Timeline) NextMove() (time.Time, bool) {
	if t.Moved < t.MoveCount() {
		return t.Move(t.Moved).Time, true
	}
	for i := t.Next; t.Forked == nil && t.Feed.HasEvent(i); i++ {
		switch ev := t.Feed.Events[i]; ev.Fact.(type) {
		case *sources.Move, *shadow.Move:
			return ev.Time, true
		}
	}
	return time.Time{}, false
}

// CloseFeed ends the reading of the recording, and the schedulers that run beside it.
func (t *Timeline) CloseFeed() {
	t.Feed.Close()
	t.opinions.close()
}

// FirstChange returns the number of the first change that can be shown: the oldest that was not dropped, or in a fork its
// own first one.
func (t *Timeline) FirstChange() int {
	if t.Forked != nil {
		return t.Forked.History.ChangeCount()
	}
	first, _ := t.Oldest()
	return first
}

// RecordedUntil returns the time up to which the recording determines the state at now: now, or a fork's start.
func (t *Timeline) RecordedUntil(now time.Time) time.Time {
	if t.Forked != nil && t.Start.Before(now) {
		return t.Start
	}
	return now
}
