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

// owner is everything that changes in a session. Only Run's goroutine touches it.
type owner struct {
	subject
	branches
	pace
	comparing
	diagnosis

	live     *live              // nil unless the recording is one that goes on
	reading  *Reading           // nil unless more of the recording is to be read
	search   *search            // under way, or nil
	previews *timeline.Previews // or nil
	marked   markCache
	zone     words.Zone
	// isAwaited reports whether a command waits, for which playing makes room. Nil: none ever does.
	isAwaited func() bool

	said    Said
	version uint64
	changed bool // since the last frame
}

// subject is what the session is of. It does not change, but for what a live one adds to counts and marks.
type subject struct {
	rec     *sources.Recording
	cfg     *schedulerconfig.Config
	notices []string
	wakes   explain.Hints
	running timeline.Schedulers       // of which the recording tells
	unknown *sources.SchedulerStarted // what is known where it tells of none
	counts  []sources.Event           // of the recording, those that hold *sources.Counts
	marks   []sources.Event           // and *sources.Mark
}

// branches are the recording's timeline and those of the what-ifs that left it.
type branches struct {
	recording *timeline.Timeline
	fork      *timeline.Timeline // nil while the recording is shown
	forks     []*timeline.Timeline
	forked    int            // how many forks there were
	left      time.Time      // the moment shown when the fork began
	leftAt    int            // and the recording's cursor
	spare     timeline.Spare // for what-ifs to come
}

// pace is the moment that is shown, and how it goes on.
type pace struct {
	now     time.Time
	playing bool
	speed   float64
	stops   bool // at marks, while playing

	squeeze bool // of quiet time
	skipped QuietTime
	quiet   time.Duration // how long nothing has moved while playing, in real time
	bound   int64         // how many bytes of what was played are kept, about. 0 is all
}

// comparing is the comparison of two timelines that is shown, if one is.
type comparing struct {
	compared   *timeline.Timeline // beside the one that is shown, or nil
	comparison *board.Comparison
	comparedAt time.Time // in real time
}

// diagnosis is what a person asked for last of what a pod needs.
type diagnosis struct {
	needs   *explain.Needs
	needsOf *timeline.Timeline // on which
	cluster *explain.Cluster   // as Survey found it last
}

func newOwner(rec *sources.Recording, opts timeline.Options) *owner {
	o := newOwnerOf(rec, opts)
	o.recording = timeline.New(rec, o.cfg, opts.Plugins)
	if rec.Unread {
		o.reading = &Reading{To: rec.End}
	}
	o.notices = report.Notices(rec)
	if said := report.OthersPods(rec.Tells(), o.cfg); said != "" && !rec.Rerun {
		o.notices = append(o.notices, said)
	}
	if opts.Past != nil && o.bound > 0 {
		if err := o.recording.OpenPast(opts); err != nil {
			opts.Past = nil
			o.bound = opts.Bound(rec)
			o.notices = append(o.notices, "What was played is kept in memory alone: "+err.Error()+".")
		}
	}
	o.show(o.recording.Start.Add(opts.Opens))
	o.setFilter(opts.Filter)
	return o
}

// newOwnerOf returns an owner without a timeline.
func newOwnerOf(rec *sources.Recording, opts timeline.Options) *owner {
	o := &owner{subject: subject{rec: rec, unknown: &sources.SchedulerStarted{}}, changed: true}
	o.pace = pace{speed: cmp.Or(opts.Speed, 1), squeeze: true, playing: !opts.Paused, bound: opts.Bound(rec)}
	o.tellRecorded(rec.Tells())
	o.running = timeline.SchedulersOf(rec) // of a rerun the first alone
	var err error
	if o.cfg, err = opts.SchedulerConfig(rec); err != nil {
		o.refuse("%s", err)
	}
	o.wakes = explain.NewHints(opts.Plugins)
	o.zone = opts.Zone
	return o
}

// close ends the schedulers that run for the recording and for a what-if.
func (o *owner) close() {
	o.spare.Close()
	o.recording.Feed.Close()
	o.recording.ClosePast()
	o.endPreview()
	for _, t := range o.forks {
		t.Close()
	}
}

// shownLine is the timeline that the person sees.
func (o *owner) shownLine() *timeline.Timeline {
	if o.fork != nil {
		return o.fork
	}
	return o.recording
}

// frame makes the frame of what is now.
func (o *owner) frame() *Frame {
	o.losePast(o.recording.PastErr())
	o.version++
	o.changed = false
	t := o.shownLine()
	t.Shown.Retime(o.now)
	f := &Frame{
		Version: o.version,
		Live:    o.liveFrame(),
		Reading: o.reading,
		Name:    o.rec.Name, Formats: o.rec.Formats, Notices: o.toldNotices(),
		Moment: explain.Moment{Now: o.now, Board: t.Shown.Copy(), Options: t.Options(), Ticks: t.Engine.Ticks, Hints: o.wakes, Zone: o.zone},
		Start:  o.recording.Start, End: o.recording.End,
		Playing: o.playing, Speed: o.speed, AtEnd: o.atEnd(),
		Squeeze: o.squeeze, Skipped: o.skipped,
		Filter: t.Shown.Filter().String(),
		Log:    t.LogShown(), Known: t.MovesKnown(),
		Series: t.Series(o.now),
		Said:   o.said, Cluster: o.cluster,
		size: o.size(),
	}
	f.Scheduler = cmp.Or(o.running.At(t.Recorded(o.now)), o.unknown)
	if o.needsOf == t {
		f.Needs = o.needs
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
		f.Stages = o.fork.Engine.Stages()
		f.Start, f.End = o.fork.Start, o.now.Add(seekLimit)
		f.Fork = &Fork{ID: o.fork.Branch.ID, Name: o.fork.Branch.Name, From: o.fork.Start, Injected: o.fork.CountDeeds(), Redo: len(o.fork.Branch.Undone), Undo: len(o.fork.Injected) - o.fork.Branch.Inherited, Scheduling: o.scheduling(), Hints: o.wakes.String()}
		return f
	}
	f.Silent = t.Silences.At(o.now)
	i := min(timeline.LastNotAfter(o.counts, o.now), len(t.Counts)-1)
	for i >= 0 && t.Counts[i].Changes > t.Cursor {
		i-- // of this very moment, but after what is shown
	}
	if i >= 0 {
		f.Measured = t.Measured(o.counts, i+1)
		f.SchedulerCounts, f.LocalCounts = o.counts[i].Fact.(*sources.Counts), t.Counts[i].Counts
		f.SchedulerCountsAt = o.counts[i].Time
	}
	return f
}

// toldNotices are what a person should know of what is shown: also that a long recording can't be read again, or is not kept.
func (o *owner) toldNotices() []string {
	all := slices.Clip(o.notices)
	if err := o.recording.Feed.Err; err != nil && o.live == nil {
		all = append(all, err.Error())
	}
	if since := o.recording.Since; !since.IsZero() {
		all = append(all, fmt.Sprintf("What was before %s is not kept, for want of room: who goes back there has it worked out again.", o.zone.Clock(since)))
	}
	return all
}

// atEnd reports whether nothing is left to play.
func (o *owner) atEnd() bool {
	t := o.recording
	return o.live == nil && o.reading == nil && o.fork == nil && !o.now.Before(t.End) && !t.Feed.HasEvent(t.Next) && t.Cursor == t.ChangeCount()
}

// Quiet time is skipped once nothing has moved for squeezeAfter and nothing will for longer than
// squeezeLeast, up to squeezeLead before the next move. All are real time.
const (
	squeezeAfter = 2 * time.Second
	squeezeLeast = 3 * time.Second
	squeezeLead  = time.Second
)

// shownPrecision is how exactly the time shown is drawn: time that passes makes no more frames.
const shownPrecision = 100 * time.Millisecond

// advance lets d of real time pass.
func (o *owner) advance(d time.Duration) {
	if !o.playing || d <= 0 || o.search != nil || o.atEdge() || o.outrunsFile() {
		return
	}
	t := o.shownLine()
	cursor, was := t.Cursor, o.now
	o.now = o.now.Add(o.model(d))
	o.skipQuiet(t)
	if o.reading != nil && t.Forked == nil && o.now.After(t.End) {
		o.now = t.End // what is behind is not executed before it is read
	}
	mark, stop := o.stopBefore(was, o.now)
	if stop {
		o.now = mark.At
	}
	if t.Forked == nil && o.now.After(t.Executed) && !t.ExecuteFor(playSlice, o.now, o.isAwaited) {
		o.now, stop = t.Executed, false // it goes no faster
	}
	o.show(o.now)
	if stop {
		o.playing = false
		o.say("stopped at the mark %q", mark.Text)
	}
	if t.Cursor != cursor {
		o.quiet = 0
		o.changed = true
	} else {
		o.quiet += d
	}
	if !o.now.Truncate(shownPrecision).Equal(was.Truncate(shownPrecision)) {
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

// skipQuiet jumps over time in which nothing moves.
func (o *owner) skipQuiet(t *timeline.Timeline) {
	if !o.squeeze || o.quiet < squeezeAfter {
		return
	}
	next, ok := t.NextMove()
	if !ok {
		if o.fork != nil {
			return // anything may come of a fork
		}
		next = t.End.Add(o.model(squeezeLead))
	}
	if mark, stop := o.stopBefore(o.now, next); stop {
		next = mark.At
	}
	if to := next.Add(-o.model(squeezeLead)); to.Sub(o.now) > o.model(squeezeLeast) {
		o.skipped = QuietTime{From: o.now, To: to}
		o.now = to
		o.quiet = 0
		o.changed = true
	}
}

// show goes to the moment at of the timeline shown, and keeps now within its bounds.
func (o *owner) show(at time.Time) {
	t := o.shownLine()
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

// say answers the person.
func (o *owner) say(format string, args ...any) {
	o.said = Said{Number: o.said.Number + 1, Text: fmt.Sprintf(format, args...)}
	o.changed = true
}

// refuse answers the person that a command can't be carried out.
func (o *owner) refuse(format string, args ...any) {
	o.say(format, args...)
	o.said.Refused = true
}

func (o *owner) size() int64 {
	n := o.recording.Size()
	for _, t := range o.forks {
		n += t.Size()
	}
	return n
}

// seekLimit is how far a what-if can be taken at once: its every second has to be worked out.
const seekLimit = 24 * time.Hour
