package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// live is what a session has of the stream that it shows. The recording of such a session grows at its
// end, which is Lag behind the clock, or more while Events wait (package backlog).
type live struct {
	stream sources.Stream
	status sources.Status
	ended  error // why nothing more comes, if so
	behind time.Duration
}

// Live says in a frame how the cluster that is shown stands.
type Live struct {
	sources.Status
	// Following is true while what is shown is the newest there is, and goes on with it.
	Following bool
	// Behind is how far the newest that is shown is behind the clock: half a second, or more while the scheduler's Events wait.
	Behind time.Duration
	// Ended says why nothing more comes. Empty while something may.
	Ended sources.SafeText
}

// NewLive returns a session that shows stream as it goes on. It does nothing until Run, which runs stream.
func NewLive(stream sources.Stream, opts timeline.Options) *Session {
	o := newOwnerOf(&sources.Recording{Name: stream.Name(), Formats: []string{"live"}}, opts)
	now := time.Now().Add(-channels.Lag).UTC()
	t := timeline.NewLive(o.cfg, opts, now)
	o.recording, o.now = t, now
	o.setFilter(opts.Filter)
	o.live = &live{stream: stream}
	if opts.Past != nil {
		if o.bound = cmp.Or(opts.Memory, liveBound); t.OpenPast(opts) != nil {
			o.bound = 0 // an hour of it is kept
		}
	}
	return newSession(o)
}

// runStream runs the stream of a live session until ctx ends. The function that it returns waits for that.
func (s *Session) runStream(ctx context.Context) (wait func()) {
	l := s.owner.live
	if l == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := l.stream.Run(ctx)
		if ctx.Err() == nil {
			s.do(func(o *owner) { o.live.ended, o.changed = err, true })
		}
	}()
	return func() { <-done }
}

// atEdge reports whether the newest there is is shown, and goes on.
func (o *owner) atEdge() bool {
	return (o.live != nil || o.reading != nil) && o.fork == nil && o.playing && !o.now.Before(o.recording.End)
}

// pollWork is for how long the model may go on at once: a large cluster's first objects take longer.
const pollWork = 40 * time.Millisecond

// poll takes in what the stream of a live session told by now. The model goes on, whatever is shown.
func (o *owner) poll(now time.Time) {
	if o.live == nil {
		return
	}
	events, status := o.live.stream.Take()
	o.live.status, o.notices = status, slices.Concat(status.Notices, o.running.Notices())
	t, edge, was := o.recording, o.atEdge(), o.recording.End
	t.Feed.Arrive(events, now, status)
	o.live.behind = now.Sub(t.Feed.End)
	from, cursor, due := t.Next, t.Cursor, true
	for due = t.HasEventBy(t.Feed.End); due && !o.outrunsFile() && time.Since(now) < pollWork; due = t.HasEventBy(t.Feed.End) {
		t.ExecuteNext()
	}
	if !due {
		t.Executed = t.Feed.End.UTC()
	}
	if t.Executed.After(t.End) {
		t.End = t.Executed
	}
	o.tellRecorded(t.Feed.Events[from:t.Next])
	if edge {
		o.now = t.End
		t.SetCursor(t.ChangeCount())
	} else {
		t.SetCursor(cursor)
	}
	o.forgetOld()
	if f := t.Feed; f.Err != nil && o.live.ended == nil {
		o.live.ended = f.Err
	}
	if t.Next != from || !t.End.Truncate(shownPrecision).Equal(was.Truncate(shownPrecision)) {
		o.changed = true
	}
}

// tellRecorded notes what events tell besides moves and objects.
func (o *owner) tellRecorded(events []sources.Event) {
	for _, ev := range events {
		switch ev.Fact.(type) {
		case *sources.Counts:
			o.counts = append(o.counts, ev)
		case *sources.Mark:
			o.marks = append(o.marks, ev)
		case *sources.SchedulerStarted, *sources.SchedulerHeard:
			o.running.Add(ev)
		}
	}
}

// liveFrame is what a frame says of the stream, or nil.
func (o *owner) liveFrame() *Live {
	if o.live == nil {
		return nil
	}
	l := &Live{Status: o.live.status, Following: o.atEdge(), Behind: o.live.behind}
	if o.live.ended != nil {
		l.Ended = sources.Sanitize(o.live.ended.Error())
	}
	return l
}

// liveHistory is how far back a live session can be looked at that keeps nothing in a file, and liveBound how many bytes one that
// does has in memory, about.
const (
	liveHistory = time.Hour
	liveBound   = 256 << 20
)

// forgetOld puts the oldest out of memory, a stretch at a time: into a file, or what is older than liveHistory nowhere. While a person
// is in a what-if or on the way to somewhere, all is kept then.
func (o *owner) forgetOld() {
	t := o.recording
	if t.Keeps() {
		o.forgetPast()
		return
	}
	if o.fork != nil || o.search != nil || len(o.forks) > 0 || t.ChangeCount()-t.FirstChange() < 2*history.KeyframeEvery {
		return
	}
	cut := min(t.ChangesBy(t.End.Add(-liveHistory)), t.Cursor) / history.KeyframeEvery * history.KeyframeEvery
	if cut <= t.FirstChange() {
		return
	}
	since := t.Change(cut).At
	o.forget(cut, nil)
	t.Start = since
	o.changed = true
}

// forgetPast puts the oldest of a long recording that takes too much out of memory.
func (o *owner) forgetPast() {
	t := o.recording
	switch {
	case o.bound == 0:
	case t.Keeps():
		o.losePast(t.StoreBeyond(o.bound))
	case o.fork != nil || len(o.forks) > 0 || o.search != nil && o.search.to.IsZero():
	default:
		for cut := t.CutBeyond(o.bound); cut > 0; cut = t.CutBeyond(o.bound) { // one slice of work may have brought much
			t.Since = t.Change(cut).At
			o.forget(cut, t.LeftLately)
		}
	}
}

// losePast forgets what was in a file, if that can't be written or read any more.
func (o *owner) losePast(err error) {
	if err == nil {
		return
	}
	t := o.recording
	if o.bound = t.Unkeep(); o.fork == nil && o.now.Before(t.OldestAt()) {
		o.seek(o.now)
	}
	o.refuse("keep what was played: %s", err)
}

// goBackTo has what was at a moment, which is not kept any more, be worked out again.
func (o *owner) goBackTo(at time.Time) {
	o.recording.BeginAnew()
	o.counts, o.marks, o.running = nil, nil, nil
	o.tellRecorded(o.rec.Tells())
	o.travel(at)
}

// hasEngine reports whether a what-if can begin at the moment shown. Of what was played long ago only what is seen is kept: then
// what led to it is worked out again.
func (o *owner) hasEngine() bool {
	if o.shownLine().HasEngine() {
		return true
	}
	if o.live != nil {
		o.refuse("a what-if begins at %s or later: of what was before only what is seen is kept", o.zone.Clock(o.recording.OldestAt()))
		return false
	}
	o.goBackTo(o.now)
	o.say("the recording is played anew up to here, since of that long ago only what is seen is kept: ask again then")
	return false
}

// forget drops the changes before the cut-th of the recording's timeline: see timeline.Timeline.Forget.
func (o *owner) forget(cut int, keep func(*board.Pod) bool) {
	o.recording.Forget(cut, keep)
	o.counts = slices.Clone(o.counts[o.recording.ForgetCounts(cut):])
}
