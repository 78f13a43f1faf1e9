package session

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// checkpointEvery is how many events of a recording lie between two checkpoints.
const checkpointEvery = 10_000

// timeline is one run of the queue through time: a recording, or a fork of one. Its history reaches
// from the start to the moment up to which it was executed; its cursor is at the moment shown.
type timeline struct {
	*history
	engine *engine
	// executed is the moment up to which everything has happened.
	executed time.Time
	// start and end bound the moments that can be shown. A fork has no end but the one it was played to.
	start, end time.Time

	// Of a recording: its events, how many are executed, and engines to fork from.
	feed        *feed
	next        int
	checkpoints []checkpoint
	// counts are the local counts at each of the recording's *sources.Counts that is executed.
	counts []localCounts

	// marks are those that the person set here, in no order.
	marks []Mark

	// Of a fork: how it began, and what the person did.
	forked   *forkStart
	injected []injection
	branch   *branch
}

// localCounts are what the local queue had after some changes.
type localCounts struct {
	counts  *sources.Counts
	changes int
}

// checkpoint is an engine as it was after some events. It is only cloned, never run.
type checkpoint struct {
	engine *engine
	board  *Board
	events int
}

// forkStart is where a fork left the recording.
type forkStart struct {
	engine  *engine // only cloned
	history *history
}

// injection is something that a person did in a fork, to be done again when the fork is run again.
type injection struct {
	at            time.Time
	do            func(*engine)
	before, after int // how many changes there were

	// what it is called, and until when it was followed. One that is joined belongs to the one before.
	what   string
	until  time.Time
	joined bool
}

func newTimeline(rec *sources.Recording, cfg *cycle.Config, plugins queue.Plugins) *timeline {
	t := &timeline{history: newHistory(), feed: newFeed(rec, cfg)}
	t.start, t.end = Span(rec)
	t.run(newEngine(cfg.Queue, plugins, t.start))
	return t
}

// run makes e the engine that writes t's history.
func (t *timeline) run(e *engine) {
	e.board, e.emit = t.head, t.append
	t.engine = e
}

// goTo shows the moment at, executing what has not happened yet.
func (t *timeline) goTo(at time.Time) {
	if t.forked == nil && at.After(t.end) {
		at = t.end
	}
	if at.Before(t.start) {
		at = t.start
	}
	if !at.Before(t.executed) { // of the events of one time, some may be left
		t.execute(at)
	}
	t.show(t.at(at))
}

// goToStart shows the first moment; of a fork, the one before anything was done in it.
func (t *timeline) goToStart() {
	t.goTo(t.start)
	if t.forked != nil {
		t.show(len(t.forked.history.changes))
	}
}

// execute lets everything happen up to at.
func (t *timeline) execute(at time.Time) {
	if t.forked == nil {
		for t.feed.has(t.next) && !t.feed.events[t.next].Time.After(at) {
			t.executeNext()
		}
	} else if d := t.engine.driver; d != nil {
		d.advance(at)
	} else {
		for {
			tick, backoff, leftover := t.engine.ticks.next(t.executed)
			if tick.After(at) {
				break
			}
			t.engine.tick(tick, backoff, leftover)
			t.executed = tick
		}
	}
	t.executed = at
}

// executeNext carries out the recording's next event.
func (t *timeline) executeNext() {
	if t.next%checkpointEvery == 0 {
		t.checkpoints = append(t.checkpoints, checkpoint{t.engine.clone(), t.head.copy(), t.next})
	}
	ev := t.feed.events[t.next]
	t.engine.apply(ev)
	if _, ok := ev.Fact.(*sources.Counts); ok {
		t.counts = append(t.counts, localCounts{t.head.counts(), len(t.changes)})
	}
	t.executed = ev.Time
	t.next++
}

// more executes what comes next: an event of the recording, or in a fork what time brings before until. It
// returns false if nothing does.
func (t *timeline) more(until time.Time) bool {
	switch {
	case t.forked == nil && t.feed.has(t.next):
		t.executeNext()
	case t.forked != nil && t.engine.driver != nil && t.executed.Before(until):
		t.executed = t.engine.driver.due()
		t.engine.driver.advance(t.executed)
	case t.forked != nil && t.executed.Before(until):
		tick, backoff, leftover := t.engine.ticks.next(t.executed)
		t.engine.tick(tick, backoff, leftover)
		t.executed = tick
	default:
		return false
	}
	return true
}

// forward goes to the next move and returns its time, or false if there is none to come. In a fork, in
// which time itself makes the moves, it looks no further than limit.
func (t *timeline) forward(limit time.Duration) (time.Time, bool) {
	want, cursor, executed := t.moved, t.cursor, t.executed
	until := executed.Add(limit)
	for len(t.moves) <= want {
		if t.more(until) {
			continue
		}
		if t.forked != nil {
			t.executed = executed // the flushes that moved nothing can run again
		}
		t.show(cursor)
		return time.Time{}, false
	}
	t.show(t.moves[want].change + 1)
	return t.moves[want].Time, true
}

// back goes to the move before the last one shown, as it was right after it, and returns its time. Before
// the first move it goes to the start; there it returns false.
func (t *timeline) back() (time.Time, bool) {
	first := 0
	if t.forked != nil {
		first = t.forked.history.moved
	}
	switch {
	case t.moved <= first:
		return time.Time{}, false
	case t.moved == first+1 && t.forked != nil:
		t.goToStart()
		return t.start, true
	case t.moved == first+1:
		t.show(min(t.at(t.start), t.moves[0].change))
		return t.start, true
	}
	last := t.moves[t.moved-2]
	t.show(last.change + 1)
	return last.Time, true
}

// nextMove returns the time of the first move after the moment shown, as far as that can be said without
// executing anything.
func (t *timeline) nextMove() (time.Time, bool) {
	if t.moved < len(t.moves) {
		return t.moves[t.moved].Time, true
	}
	for i := t.next; t.forked == nil && t.feed.has(i); i++ {
		switch ev := t.feed.events[i]; ev.Fact.(type) {
		case *sources.Move, *modelledMove:
			return ev.Time, true
		}
	}
	return time.Time{}, false
}

// fork returns a timeline that leaves the recording t at the moment shown, now.
func (t *timeline) fork(now time.Time) *timeline {
	e := t.engineShown()
	f := &timeline{executed: now, start: now, forked: &forkStart{engine: e, history: t.history.fork()}, branch: &branch{from: now}}
	f.history = t.history.fork()
	f.run(e.clone())
	return f
}

// engineShown returns the engine as it was at the moment shown, to be cloned. If t has gone on since, it
// is worked out again from the checkpoint before; the same events give the same engine.
func (t *timeline) engineShown() *engine {
	if t.cursor == len(t.changes) {
		return t.engine.clone()
	}
	i := len(t.checkpoints) - 1
	for i > 0 && t.checkpoints[i].engine.changes > t.cursor {
		i--
	}
	from := t.checkpoints[i]
	e := from.engine.clone()
	h := &history{head: from.board.copy()}
	e.board, e.emit = h.head, h.append
	for _, ev := range t.feed.events[from.events:] {
		if e.changes >= t.cursor {
			break
		}
		e.apply(ev)
	}
	t.show(e.changes) // an event's changes belong together
	return e
}

// inject carries out what a person did in a fork, at now, the moment shown, and returns the moves that it
// caused. What the fork's future was is gone.
func (t *timeline) inject(now time.Time, do func(*engine)) []*Transition {
	if t.cursor < len(t.changes) || now.Before(t.executed) {
		t.rewind(now)
	}
	t.execute(now)
	t.branch.undone = nil
	before := len(t.moves)
	t.do(injection{at: now, until: now, do: do})
	t.show(len(t.changes))
	return t.moves[before:]
}

// calmDown lets time pass in a fork until nothing is under way any more, or for limit at the most.
func (t *timeline) calmDown(limit time.Duration) time.Time {
	for until := t.executed.Add(limit); t.engine.busy() && t.executed.Before(until); {
		t.executed = t.engine.driver.due()
		t.engine.driver.advance(t.executed)
	}
	t.show(len(t.changes))
	return t.executed
}

// close ends what a fork's scheduler has running.
func (t *timeline) close() { t.engine.stopScheduler() }

// do carries out in and remembers it.
func (t *timeline) do(in injection) {
	in.before = len(t.changes)
	in.do(t.engine)
	in.after = len(t.changes)
	t.injected = append(t.injected, in)
}

// rewind takes a fork back to the moment shown by doing again what the person did in it up to then.
func (t *timeline) rewind(now time.Time) {
	n := 0
	for _, in := range t.injected {
		// One counts as done if any of its changes is shown, or if it made none and all before it are.
		if done := in.before < t.cursor || in.after <= t.cursor; !done || in.at.After(now) {
			break
		}
		n++
	}
	t.rerun(t.injected[:n:n], now)
}

// wake makes t fit to go on.
func (t *timeline) wake() {
	if t.branch == nil || !t.branch.rests {
		return
	}
	t.branch.rests = false
	cursor := t.cursor
	t.rerun(t.injected, t.executed)
	t.show(min(cursor, len(t.changes)))
}

// sleep closes the scheduler of a fork that is not shown any more.
func (t *timeline) sleep() {
	if t.branch != nil && t.engine.driver != nil {
		t.branch.rests = true
		t.close()
	}
}

// executeFor is execute for a recording, as far as that can be worked out in d of real time. It reports whether
// everything has happened.
func (t *timeline) executeFor(d time.Duration, at time.Time) bool {
	for began := time.Now(); t.feed.has(t.next) && !t.feed.events[t.next].Time.After(at); t.executeNext() {
		if time.Since(began) > d {
			return false
		}
	}
	t.execute(at)
	return true
}

// nextBy reports whether the recording's next event is of at or before.
func (t *timeline) nextBy(at time.Time) bool {
	return t.feed.has(t.next) && !t.feed.events[t.next].Time.After(at)
}

// floor is the first change that can be gone back to.
func (t *timeline) floor() int {
	if t.forked != nil {
		return len(t.forked.history.changes)
	}
	return 0
}

// Mark is a named moment.
type Mark struct {
	At   time.Time
	Text sources.SafeText
	// Own is true if the person set it here, false if the recording has it.
	Own bool
}

// branch is a fork's place in the tree.
type branch struct {
	id, parent int
	name       sources.SafeText
	// from is the moment at which it left its parent, and inherited how many injections it has from there.
	from      time.Time
	inherited int
	// undone are the deeds that were taken back, the last first to be done again, each of them one or more
	// injections.
	undone [][]injection
	// now is the moment that was shown when it was left. If it rests, its scheduler was closed then.
	now   time.Time
	rests bool
}
