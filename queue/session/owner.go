package session

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// owner holds all mutable state of a session. Only Run's goroutine accesses it.
type owner struct {
	subject
	branches
	playback
	comparing
	diagnosis

	live     *live              // nil unless the source is live
	reading  *Reading           // nil once the whole recording is read
	search   *search            // running, or nil
	previews *timeline.Previews // or nil
	marked   markCache
	zone     words.Zone
	// commandWaiting reports whether a command is waiting, so that long work can make way. May be nil.
	commandWaiting func() bool

	reply   Reply
	version uint64
	changed bool // since the last frame
}

// subject is what the session shows. It does not change, except that a live source adds counts and
// marks.
type subject struct {
	rec     *sources.Recording
	cfg     *schedulerconfig.Config
	notices []string
	wakes   explain.Hints
	running timeline.Schedulers       // that ran during the recording
	unknown *sources.SchedulerStarted // used when the recording names no scheduler
	counts  []sources.Event           // the recording's *sources.Counts
	marks   []sources.Event           // the recording's *sources.Mark
	ended   time.Time                 // when the scheduler shut down; zero if unknown
}

// branches are the timelines of the recording and of the what-ifs made from it.
type branches struct {
	recording    *timeline.Timeline
	fork         *timeline.Timeline // nil while the recording is shown
	forks        []*timeline.Timeline
	forkCount    int            // forks made so far
	returnTo     time.Time      // the time shown when the fork began
	returnCursor int            // the recording's cursor at that time
	spare        timeline.Spare // for future what-ifs
}

// playback is the time shown and how it advances.
type playback struct {
	now     time.Time
	playing bool
	speed   float64
	stops   bool // whether playing stops at marks

	squeeze     bool // skip quiet time
	skipped     QuietTime
	quiet       time.Duration // real time without a move while playing
	memoryLimit int64         // about how many bytes of history to keep in memory; 0 means all
}

// comparing is the comparison of two timelines, if one is shown.
type comparing struct {
	compared   *timeline.Timeline // compared with the one shown, or nil
	comparison *board.Comparison
	comparedAt time.Time // in real time
}

// diagnosis holds the last results of Diagnose, Inspect, Survey and FindSiblings.
type diagnosis struct {
	needs   *explain.Needs
	needsOf *timeline.Timeline // the timeline that needs refers to
	cycle   *explain.Cycle
	cycleOf *timeline.Timeline // the timeline that cycle refers to
	// assumesConfig is true if the scheduler's profiles and plugins are not given.
	assumesConfig bool
	cluster       *explain.Cluster // the last result of Survey
	siblings      *explain.Siblings
}

func newOwner(rec *sources.Recording, opts timeline.Options) *owner {
	o := newOwnerOf(rec, opts)
	o.recording = timeline.New(rec, o.cfg, opts.Plugins)
	if rec.Unread {
		o.reading = &Reading{To: rec.End}
	}
	o.notices = report.Notices(rec)
	if notice := report.OtherSchedulers(rec.Events, o.cfg); notice != "" && !rec.Rerun {
		o.notices = append(o.notices, notice)
	}
	if opts.OpenArchive != nil && o.memoryLimit > 0 {
		if err := o.recording.OpenPast(opts); err != nil {
			opts.OpenArchive = nil
			o.memoryLimit = opts.MemoryLimit(rec)
			o.notices = append(o.notices, "Played history is kept in memory only: "+err.Error()+".")
		}
	}
	o.show(o.recording.Start.Add(opts.StartOffset))
	o.setFilter(opts.Filter)
	return o
}

// newOwnerOf returns an owner without a timeline.
func newOwnerOf(rec *sources.Recording, opts timeline.Options) *owner {
	o := &owner{subject: subject{rec: rec, unknown: &sources.SchedulerStarted{}}, changed: true}
	o.playback = playback{speed: cmp.Or(opts.Speed, 1), squeeze: true, playing: !opts.Paused, memoryLimit: opts.MemoryLimit(rec)}
	o.noteFacts(rec.Events)
	o.ended, _ = timeline.SchedulerEnd(rec)
	o.running = timeline.SchedulersOf(rec) // for a rerun only the first
	var err error
	if o.cfg, err = opts.SchedulerConfig(rec); err != nil {
		o.refuse("%s", err)
	}
	o.wakes = explain.NewHints(opts.Plugins)
	o.zone, o.assumesConfig = opts.Zone, opts.Scheduler == nil
	return o
}

// close stops the schedulers of the recording and of all what-ifs.
func (o *owner) close() {
	o.spare.Close()
	o.recording.CloseFeed()
	o.recording.CloseArchive()
	o.endPreview()
	for _, t := range o.forks {
		t.Close()
	}
}

// shownTimeline returns the timeline on the screen.
func (o *owner) shownTimeline() *timeline.Timeline {
	if o.fork != nil {
		return o.fork
	}
	return o.recording
}

// frame returns a frame of the current state.
func (o *owner) frame() *Frame {
	o.dropArchive(o.recording.ArchiveErr())
	o.version++
	o.changed = false
	t := o.shownTimeline()
	t.Shown.Retime(o.now)
	f := &Frame{
		Version: o.version,
		Live:    o.liveFrame(),
		Reading: o.reading,
		Name:    o.rec.Name, Formats: o.rec.Formats, Notices: o.allNotices(),
		Moment: explain.Moment{Now: o.now, Board: t.Shown.Copy(), Options: t.Options(), Ticks: t.Engine.Ticks, Hints: o.wakes, Zone: o.zone},
		Start:  o.recording.Start, End: o.recording.End,
		Playing: o.playing, Speed: o.speed, AtEnd: o.atEnd(),
		Squeeze: o.squeeze, Skipped: o.skipped,
		Filter: t.Shown.Filter().String(),
		Log:    t.LogShown(), Known: t.MovesKnown(),
		Series: t.Series(o.now),
		Reply:  o.reply, Cluster: o.cluster, Siblings: o.siblings,
		size: o.size(),
	}
	f.Scheduler = cmp.Or(o.running.At(t.RecordedUntil(o.now)), o.unknown)
	if !o.rec.Rerun {
		f.Assumed = timeline.Assumed(f.Scheduler)
	}
	if o.needsOf == t {
		f.Needs = o.needs
	}
	if o.cycleOf == t {
		f.Cycle = o.cycle
	}
	f.Marks, f.OwnMarks, f.Stops = o.marksOf(t), o.recording.Marks, o.stops
	if i := timeline.LastMark(f.Marks, o.now); i >= 0 {
		f.Mark, f.MarkAt = f.Marks[i].Text, f.Marks[i].At
	}
	if o.search != nil {
		f.Searching = o.search.progress(o.zone)
	}
	if p := o.previews; p != nil {
		f.Previews = p.Done()
	}
	f.Forks, f.Comparison = o.forkInfos(), o.compareNow()
	if o.fork != nil {
		f.WhatIf = true
		f.Stages = o.fork.Engine.Stages()
		f.Start, f.End = o.fork.Start, o.now.Add(seekLimit)
		f.Fork = &Fork{ID: o.fork.Branch.ID, Name: o.fork.Branch.Name, From: o.fork.Start, Injected: len(o.fork.Actions()), Redo: len(o.fork.Branch.Undone), Undo: len(o.fork.Injected) - o.fork.Branch.Inherited, Scheduling: o.scheduling(), Hints: o.wakes.String()}
		return f
	}
	f.Silent = t.Silences.At(o.now)
	i := min(timeline.LastNotAfter(o.counts, o.now), len(t.Counts)-1)
	for i >= 0 && t.Counts[i].Changes > t.Cursor {
		i-- // at the same time, but after the move shown
	}
	if i >= 0 {
		f.Measured = t.Measured(o.counts, i+1)
		f.SchedulerCounts, f.LocalCounts = o.counts[i].Fact.(*sources.Counts), t.Counts[i].Counts
		f.SchedulerCountsAt = o.counts[i].Time
	}
	return f
}

// allNotices returns the notices for what is shown, including a read error and dropped history.
func (o *owner) allNotices() []string {
	all := slices.Clip(o.notices)
	if err := o.recording.Feed.Err; err != nil && o.live == nil {
		all = append(all, err.Error())
	}
	if since := o.recording.KeptSince; !since.IsZero() {
		all = append(all, fmt.Sprintf("History before %s was dropped to save memory: going back there replays the recording.", o.zone.Clock(since)))
	}
	return all
}

// atEnd reports whether nothing is left to play.
func (o *owner) atEnd() bool {
	t := o.recording
	return o.live == nil && o.reading == nil && o.fork == nil && !o.now.Before(t.End) && !t.Feed.HasEvent(t.Next) && t.Cursor == t.ChangeCount()
}

// Quiet time is skipped after squeezeAfter without a move, if the next move is more than squeezeLeast
// away, up to squeezeLead before that move. All are real time.
const (
	squeezeAfter = 2 * time.Second
	squeezeLeast = 3 * time.Second
	squeezeLead  = time.Second
)

// timePrecision is the precision at which the screen shows time: smaller changes make no new frame.
const timePrecision = 100 * time.Millisecond

// advance advances playback by d of real time.
func (o *owner) advance(d time.Duration) {
	if !o.playing || d <= 0 || o.search != nil || o.atEdge() || o.outrunsDisk() {
		return
	}
	t := o.shownTimeline()
	cursor, was := t.Cursor, o.now
	o.now = o.now.Add(o.model(d))
	o.skipQuiet(t)
	if o.reading != nil && t.Forked == nil && o.now.After(t.End) {
		o.now = t.End // beyond this nothing has been read yet
	}
	mark, stop := o.nextStop(was, o.now)
	if stop {
		o.now = mark.At
	}
	if t.Forked == nil && o.now.After(t.Executed) && !t.ExecuteFor(playSlice, o.now, o.commandWaiting) {
		o.now, stop = t.Executed, false // the model is slower than the speed asked for
	}
	o.show(o.now)
	if stop {
		o.playing = false
		o.say("stopped at mark %q", mark.Text)
	}
	if t.Cursor != cursor {
		o.quiet = 0
		o.changed = true
	} else {
		o.quiet += d
	}
	if !o.now.Truncate(timePrecision).Equal(was.Truncate(timePrecision)) {
		o.changed = true
	}
	if o.atEnd() {
		o.playing = false
		o.changed = true
	}
	o.forgetPast()
}

// model returns the model time that passes in d of real time.
func (o *owner) model(d time.Duration) time.Duration { return time.Duration(float64(d) * o.speed) }

// skipQuiet skips time in which nothing moves.
func (o *owner) skipQuiet(t *timeline.Timeline) {
	if !o.squeeze || o.quiet < squeezeAfter {
		return
	}
	next, ok := t.NextMove()
	if !ok {
		if o.fork != nil {
			return // a what-if may still change
		}
		next = t.End.Add(o.model(squeezeLead))
	}
	if mark, stop := o.nextStop(o.now, next); stop {
		next = mark.At
	}
	if to := next.Add(-o.model(squeezeLead)); to.Sub(o.now) > o.model(squeezeLeast) {
		o.skipped = QuietTime{From: o.now, To: to}
		o.now = to
		o.quiet = 0
		o.changed = true
	}
}

// show moves the shown timeline to at, limited to the timeline's range.
func (o *owner) show(at time.Time) {
	t := o.shownTimeline()
	if at.Before(t.Start) {
		at = t.Start
	}
	if o.fork == nil && at.After(t.End) {
		at = t.End
	}
	o.now = at
	t.GoTo(at)
	if !o.skipped.Empty() && (o.now.Before(o.skipped.From) || o.now.Sub(o.skipped.To) > o.model(5*time.Second)) {
		o.skipped = QuietTime{}
	}
}

// say sets the reply to the user's last command.
func (o *owner) say(format string, args ...any) {
	o.reply = Reply{Number: o.reply.Number + 1, Text: fmt.Sprintf(format, args...)}
	o.changed = true
}

// refuse replies that a command can't be carried out.
func (o *owner) refuse(format string, args ...any) {
	o.say(format, args...)
	o.reply.Refused = true
}

func (o *owner) size() int64 {
	n := o.recording.Size()
	for _, t := range o.forks {
		n += t.Size()
	}
	return n
}

// refuseNotFound replies that a search found nothing.
func (o *owner) refuseNotFound(format string, args ...any) {
	o.refuse(format, args...)
	o.reply.NotFound = true
}

// seekLimit limits how far a what-if advances at once: every second of it has to be modelled.
const seekLimit = 24 * time.Hour
