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

// checkpointEvery is how many events of a recording lie between two checkpoints.
const checkpointEvery = 10_000

// Timeline is one run of the queue through time: a recording, or a fork of one. Its history reaches
// from the start to the moment up to which it was executed; its cursor is at the moment shown.
type Timeline struct {
	*history.History
	Engine *Engine
	// Executed is the moment up to which everything has happened.
	Executed time.Time
	// Start and End bound the moments that can be shown. A fork has no End: it goes on as far as it is played.
	Start, End time.Time
	// Since is from when on it is kept what was. Zero: from the start on.
	Since time.Time

	made made // of a recording

	opinions *opinions // nil of a fork and of a rerun

	// Of a recording: its events, how many of them are executed, and engines to fork from.
	Feed        *shadow.Feed
	Next        int
	checkpoints []checkpoint
	facts       int // how many bytes those of the executed events take that are kept: see factSize
	// Counts are the local counts at each of the recording's *sources.Counts that is executed.
	Counts []localCounts

	// Silences are the times in which no scheduler was heard, as far as is executed.
	Silences Silences

	// Marks are those that the person set here, in no order.
	Marks []Mark

	// Of a fork: how it began, and what the person did.
	Forked   *forkStart
	Injected []injection
	Branch   *branch
}

// localCounts are what the local queue had after some changes.
type localCounts struct {
	Counts  *sources.Counts
	Changes int
}

// checkpoint is an engine as it was after some events. It is only cloned, never run.
type checkpoint struct {
	engine *Engine
	board  *board.Board
	events int
}

// forkStart is where a fork left the recording.
type forkStart struct {
	engine  *Engine // only cloned
	History *history.History
}

// injection is something that a person did in a fork, to be done again when the fork is run again.
type injection struct {
	At            time.Time
	do            func(*Engine)
	before, after int // how many changes there were

	// facts are what it did to the cluster and to the queue.
	facts []sources.Fact

	// What it is called, and until when it was followed. A Joined one is part of what the one before is called.
	What   string
	Until  time.Time
	Joined bool
}

// New returns the timeline of rec, of which nothing has been executed.
func New(rec *sources.Recording, cfg *schedulerconfig.Config, plugins queue.Plugins) *Timeline {
	t := &Timeline{History: history.New(), Feed: shadow.NewFeed(rec, cfg), made: made{rec: rec, cfg: cfg, plugins: plugins}}
	if t.Start, t.End = Span(rec); rec.Unread {
		t.ReadTo(rec.End)
	}
	t.SetEngine(newEngine(cfg, plugins, t.Start))
	if !rec.Rerun {
		t.opinions = newOpinions(cfg, t.Feed)
	}
	return t
}

// NewLive returns a timeline that begins now, of a stream that is to tell what happens.
func NewLive(cfg *schedulerconfig.Config, opts Options, now time.Time) *Timeline {
	t := &Timeline{History: history.New(), Feed: shadow.NewLiveFeed(cfg), Start: now, End: now}
	t.SetEngine(newEngine(cfg, opts.Plugins, now))
	t.opinions = newOpinions(cfg, t.Feed)
	return t
}

// Options are those of the scheduler whose queue it is, at the end of what is executed.
func (t *Timeline) Options() queue.Options { return t.Engine.Config.Queue }

// SetEngine makes e the engine that writes t's history.
func (t *Timeline) SetEngine(e *Engine) {
	e.Board, e.Emit = t.Head(), t.Append
	t.Engine = e
}

// GoTo shows the moment at, or Start or End if that is nearer, and executes first what has not happened by then.
func (t *Timeline) GoTo(at time.Time) {
	if t.Forked == nil && at.After(t.End) {
		at = t.End
	}
	if at.Before(t.Start) {
		at = t.Start
	}
	if !at.Before(t.Executed) { // of the events of one time, some may be left
		t.Execute(at)
	}
	t.SetCursor(t.ChangesBy(at))
}

// GoToStart shows the first moment; of a fork, the one before anything was done in it.
func (t *Timeline) GoToStart() {
	t.GoTo(t.Start)
	if t.Forked != nil {
		t.SetCursor(t.Forked.History.ChangeCount())
	}
}

// Execute lets everything happen that is due up to and at the moment at.
func (t *Timeline) Execute(at time.Time) {
	if t.Forked == nil {
		for t.Feed.HasEvent(t.Next) && !t.Feed.Events[t.Next].Time.After(at) {
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
			t.Engine.tick(tick, backoff, leftover)
			t.Executed = tick
		}
	}
	t.Executed = at
}

// ExecuteNext carries out the recording's next event.
func (t *Timeline) ExecuteNext() {
	if t.Next%checkpointEvery == 0 {
		t.checkpoints = append(t.checkpoints, checkpoint{t.Engine.Clone(), t.Head().Copy(), t.Next})
	}
	ev := t.Feed.Events[t.Next]
	t.facts += t.factSize(ev)
	_, given := ev.Fact.(*opinion.Given)
	if !given {
		t.opinions.see(t.Engine, ev)
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

// ExecuteMore executes what comes next: an event of the recording, or in a fork what is due first, before until. It
// returns false if nothing comes.
func (t *Timeline) ExecuteMore(until time.Time) bool {
	switch {
	case t.Forked == nil && t.Feed.HasEvent(t.Next):
		t.ExecuteNext()
	case t.Forked != nil && t.Engine.Driver != nil && t.Executed.Before(until):
		t.Executed = t.Engine.Driver.Due()
		t.Engine.Driver.Advance(t.Executed)
	case t.Forked != nil && t.Executed.Before(until):
		tick, backoff, leftover := t.Engine.Ticks.Next(t.Executed)
		t.Engine.tick(tick, backoff, leftover)
		t.Executed = tick
	default:
		return false
	}
	return true
}

// StepForward goes to the next move and returns its time, or false if there is none to come. In a fork, in
// which time itself makes the moves, it looks no further than limit.
func (t *Timeline) StepForward(limit time.Duration) (time.Time, bool) {
	want, executed, changes := t.Moved, t.Executed, t.ChangeCount()
	until := executed.Add(limit)
	for t.MoveCount() <= want {
		if t.ExecuteMore(until) {
			continue
		}
		t.unexecute(executed, changes)
		return time.Time{}, false
	}
	next := t.Move(want)
	t.SetCursor(next.Change + 1)
	return next.Time, true
}

// StepBack goes to the move before the last one shown, as it was right after it, and returns its time. Before
// the first move it goes to the start; there it returns false.
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

// NextMove returns the time of the first move after the moment shown, as far as that can be said without
// executing anything.
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

// Fork returns a timeline that leaves the recording t at the moment shown, now.
func (t *Timeline) Fork(now time.Time) *Timeline {
	e := t.EngineShown(now)
	e.whatIf = true
	f := &Timeline{Executed: now, Start: now, Forked: &forkStart{engine: e, History: t.History.Fork()}, Branch: &branch{From: now}}
	f.History = t.History.Fork()
	f.SetEngine(e.Clone())
	return f
}

// EngineShown returns a clone of the engine as it was at now, the moment shown. If t has executed more since, events
// are applied again from the checkpoint before; the same events give the same engine.
func (t *Timeline) EngineShown(now time.Time) *Engine {
	if t.IsAtEngine(now) {
		return t.Engine.Clone()
	}
	i := len(t.checkpoints) - 1
	for i > 0 && (t.checkpoints[i].engine.changes > t.Cursor || t.Feed.Events[t.checkpoints[i].events-1].Time.After(now)) {
		i--
	}
	from := t.checkpoints[i]
	e := from.engine.Clone()
	h := history.Of(from.board.Copy())
	e.Board, e.Emit = h.Head(), h.Append
	stepped := t.Cursor < t.ChangesBy(now) // to one of several moves of that time
	for _, ev := range t.Feed.Events[from.events:t.Next] {
		if ev.Time.After(now) || stepped && e.changes >= t.Cursor {
			break
		}
		e.apply(ev)
	}
	t.SetCursor(e.changes) // an event's changes belong together
	return e
}

// IsAtEngine reports whether the engine is as it was at now, the moment shown.
func (t *Timeline) IsAtEngine(now time.Time) bool {
	switch {
	case t.Cursor < t.ChangeCount():
		return false
	case t.Forked != nil:
		return !t.Executed.After(now)
	}
	return t.Next == 0 || !t.Feed.Events[t.Next-1].Time.After(now)
}

// Inject carries out what a person did in a fork, at now, the moment shown, and returns the moves that it caused.
// What was executed beyond now is dropped, and nothing that was undone can be done again.
func (t *Timeline) Inject(now time.Time, do func(*Engine)) []*board.Transition {
	if t.Cursor < t.ChangeCount() || now.Before(t.Executed) {
		t.rewind(now)
	}
	t.Execute(now)
	t.Branch.Undone = nil
	before := t.MoveCount()
	t.carryOut(injection{At: now, Until: now, do: do})
	t.SetCursor(t.ChangeCount())
	return t.MovesFrom(before)
}

// CalmDown lets time pass in a fork until nothing is under way any more, or for limit at the most, and returns the
// moment then.
func (t *Timeline) CalmDown(limit time.Duration) time.Time {
	for until := t.Executed.Add(limit); t.Engine.busy() && t.Executed.Before(until); {
		t.Executed = t.Engine.Driver.Due()
		t.Engine.Driver.Advance(t.Executed)
	}
	t.SetCursor(t.ChangeCount())
	return t.Executed
}

// CloseFeed ends the reading of the recording, and the schedulers that run beside it.
func (t *Timeline) CloseFeed() {
	t.Feed.Close()
	t.opinions.close()
}

// Close ends the scheduler of a fork, if one runs.
func (t *Timeline) Close() { t.Engine.StopScheduler() }

// carryOut carries out in and remembers it.
func (t *Timeline) carryOut(in injection) {
	in.before, in.facts = t.ChangeCount(), nil
	t.Engine.noted = &in.facts
	in.do(t.Engine)
	t.Engine.noted = nil
	in.after = t.ChangeCount()
	t.Injected = append(t.Injected, in)
}

// rewind takes a fork back to the moment shown by doing again what the person did in it up to then.
func (t *Timeline) rewind(now time.Time) {
	n := 0
	for _, in := range t.Injected {
		// One counts as done if any of its changes is shown, or if it made none and all before it are.
		if done := in.before < t.Cursor || in.after <= t.Cursor; !done || in.At.After(now) {
			break
		}
		n++
	}
	t.Reinject(t.Injected[:n:n], now)
}

// Resume has a fork that was suspended go on: its scheduler is got back by doing again what the person did.
func (t *Timeline) Resume() {
	if t.Branch == nil || !t.Branch.suspended {
		return
	}
	t.Branch.suspended = false
	cursor := t.Cursor
	t.Reinject(t.Injected, t.Executed)
	t.SetCursor(min(cursor, t.ChangeCount()))
}

// Suspend closes the scheduler of a fork that is not shown any more, if one runs. Resume gets it back.
func (t *Timeline) Suspend() {
	if t.Branch != nil && t.Engine.Driver != nil {
		t.Branch.suspended = true
		t.Close()
	}
}

// ExecuteFor is Execute for a recording, for as long as d of real time, or until isAwaited, which may be nil. It reports
// whether everything up to the moment at has happened.
func (t *Timeline) ExecuteFor(d time.Duration, at time.Time, isAwaited func() bool) bool {
	for began := time.Now(); t.Feed.HasEvent(t.Next) && !t.Feed.Events[t.Next].Time.After(at); t.ExecuteNext() {
		if time.Since(began) > d || isAwaited != nil && isAwaited() {
			return false
		}
	}
	t.Execute(at)
	return true
}

// HasEventBy reports whether the recording's next event is at the moment at or before it.
func (t *Timeline) HasEventBy(at time.Time) bool {
	return t.Feed.HasEvent(t.Next) && !t.Feed.Events[t.Next].Time.After(at)
}

// FirstChange returns the number of the first change that can be gone back to: the oldest that is not forgotten, or in a fork
// the first one of its own.
func (t *Timeline) FirstChange() int {
	if t.Forked != nil {
		return t.Forked.History.ChangeCount()
	}
	first, _ := t.Oldest()
	return first
}

// Recorded returns up to when what the recording tells has happened at now: in a fork nothing does after it left.
func (t *Timeline) Recorded(now time.Time) time.Time {
	if t.Forked != nil && t.Start.Before(now) {
		return t.Start
	}
	return now
}

// branch is a fork's place in the tree.
type branch struct {
	ID, Parent int
	Name       sources.SafeText
	// From is the moment at which it left its parent, and Inherited how many of its injections were made there.
	From      time.Time
	Inherited int
	// Undone are the deeds that were taken back, the last first to be done again, each of them one or more
	// injections.
	Undone [][]injection
	// Now is the moment that was shown when it was left, and Cursor the change. If it is suspended, its scheduler was closed then.
	Now       time.Time
	Cursor    int
	suspended bool
}
