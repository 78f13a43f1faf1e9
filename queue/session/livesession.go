package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// live is the state of a live source. The recording of a live session grows at its end, which is Lag
// behind the clock, or more while Events are late.
type live struct {
	stream sources.Stream
	status sources.Status
	ended  error // why the stream ended, or nil
	lag    time.Duration
}

// Live is the state of a live source in a frame.
type Live struct {
	sources.Status
	// Following is true while the newest state is shown and kept up to date.
	Following bool
	// Behind is how far the newest state is behind the clock: half a second, or more while the
	// scheduler's Events are late.
	Behind time.Duration
	// Ended says why the stream ended. Empty while it runs.
	Ended sources.SafeText
}

// NewLive returns a session that shows stream live. It does nothing until Run, which runs stream. If Run is never called,
// call Close, which runs stream with a canceled context.
func NewLive(stream sources.Stream, opts timeline.Options) *Session {
	o := newOwnerOf(&sources.Recording{Name: stream.Name(), Formats: []string{"live"}}, opts)
	now := time.Now().Add(-evidence.Lag).UTC()
	t := timeline.NewLive(o.cfg, opts, now)
	o.recording, o.now = t, now
	o.setFilter(opts.Filter)
	o.live = &live{stream: stream}
	if opts.OpenArchive != nil {
		if o.memoryLimit = cmp.Or(opts.Memory, liveBound); t.OpenPast(opts) != nil {
			o.memoryLimit = 0 // keep an hour in memory
		}
	}
	return newSession(o)
}

// runStream runs the stream of a live session until ctx ends. The function that it returns waits for
// the stream to end.
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

// atEdge reports whether the newest state is shown and kept up to date.
func (o *owner) atEdge() bool {
	return (o.live != nil || o.reading != nil) && o.fork == nil && o.playing && !o.now.Before(o.recording.End)
}

// pollBudget limits how long the model works at once: the first objects of a large cluster take longer.
const pollBudget = 40 * time.Millisecond

// poll reads what the stream delivered by now. The model advances whatever is shown.
func (o *owner) poll(now time.Time) {
	if o.live == nil {
		return
	}
	events, status := o.live.stream.Take()
	o.live.status, o.notices = status, slices.Concat(status.Notices, o.running.Notices())
	t, edge, was := o.recording, o.atEdge(), o.recording.End
	t.Feed.Arrive(events, now, status)
	o.live.lag = now.Sub(t.Feed.End)
	from, cursor, due := t.Next, t.Cursor, true
	for due = t.HasEventBy(t.Feed.End); due && !o.outrunsDisk() && time.Since(now) < pollBudget; due = t.HasEventBy(t.Feed.End) {
		t.ExecuteNext()
	}
	if !due {
		t.Executed = t.Feed.End.UTC()
	}
	if t.Executed.After(t.End) {
		t.End = t.Executed
	}
	o.noteFacts(t.Feed.Events[from:t.Next])
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
	if t.Next != from || !t.End.Truncate(timePrecision).Equal(was.Truncate(timePrecision)) {
		o.changed = true
	}
}

// noteFacts collects counts, marks and scheduler starts from events.
func (o *owner) noteFacts(events []sources.Event) {
	for _, ev := range events {
		switch ev.Fact.(type) {
		case *sources.Counts:
			o.counts = append(o.counts, ev)
		case *sources.Mark:
			o.marks = append(o.marks, ev)
		case *sources.SchedulerStarted, *sources.SchedulerRunning:
			o.running.Add(ev)
		}
	}
}

// liveFrame returns the state of the stream for a frame, or nil.
func (o *owner) liveFrame() *Live {
	if o.live == nil {
		return nil
	}
	l := &Live{Status: o.live.status, Following: o.atEdge(), Behind: o.live.lag}
	if o.live.ended != nil {
		l.Ended = sources.Sanitize(o.live.ended.Error())
	}
	return l
}

// liveHistory is how far back a live session without a file can be viewed, and liveBound about how many
// bytes of history one with a file keeps in memory.
const (
	liveHistory = time.Hour
	liveBound   = 256 << 20
)

// forgetOld moves the oldest history to the file, a stretch at a time, or without a file drops what is
// older than liveHistory. It drops nothing while a what-if or a search runs.
func (o *owner) forgetOld() {
	t := o.recording
	if t.HasArchive() {
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

// forgetPast moves or drops the oldest history of a recording that exceeds its memory limit.
func (o *owner) forgetPast() {
	t := o.recording
	switch {
	case o.memoryLimit == 0:
	case t.HasArchive():
		o.dropArchive(t.StoreBeyond(o.memoryLimit))
	case o.fork != nil || len(o.forks) > 0 || o.search != nil && o.search.to.IsZero():
	default:
		for cut := t.CutToFit(o.memoryLimit); cut > 0; cut = t.CutToFit(o.memoryLimit) { // one slice of work may have added much
			t.KeptSince = t.Change(cut).At
			o.forget(cut, t.LeftRecently)
		}
	}
}

// dropArchive drops the history in the file if err, a failure to read or write it, is not nil.
func (o *owner) dropArchive(err error) {
	if err == nil {
		return
	}
	t := o.recording
	if o.memoryLimit = t.AbandonArchive(); o.fork == nil && o.now.Before(t.OldestAt()) {
		o.seek(o.now)
	}
	o.refuse("keep the history: %s", err)
}

// replayTo replays the recording up to at, whose history was dropped.
func (o *owner) replayTo(at time.Time) {
	o.recording.Restart()
	o.counts, o.marks, o.running = nil, nil, nil
	o.noteFacts(o.rec.Events)
	o.travel(at)
}

// ensureEngine reports whether a what-if can begin at the time shown. If its history holds moves only,
// the recording is replayed up to there first.
func (o *owner) ensureEngine() bool {
	if o.shownTimeline().HasEngine() {
		return true
	}
	if o.live != nil {
		o.refuse("a what-if can start at %s or later: earlier history holds moves only", o.zone.Clock(o.recording.OldestAt()))
		return false
	}
	o.replayTo(o.now)
	o.say("replaying the recording up to here first: try again when that is done")
	return false
}

// forget drops the changes before number cut of the recording's timeline: see timeline.Timeline.Forget.
func (o *owner) forget(cut int, keep func(*board.Pod) bool) {
	o.recording.Forget(cut, keep)
	o.counts = slices.Clone(o.counts[o.recording.ForgetCounts(cut):])
}
