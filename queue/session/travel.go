package session

import (
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// A search looks for a time at which a condition is met, forward or back, in slices between which
// commands are handled.

// searchSlice is the real time that a search works at once if no command is waiting.
const searchSlice = 20 * time.Millisecond

// search is a running search, or a running Seek.
type search struct {
	timeline.Search
	to time.Time // the destination of a Seek: see travel
}

// find searches for the condition from the time shown and goes there.
func (o *owner) find(c board.Condition, forward bool) {
	o.halt()
	if c.Mark != nil {
		o.findMark(*c.Mark, forward)
		return
	}
	o.search, o.changed = &search{Search: o.shownTimeline().NewSearch(c, forward, o.now)}, true
}

// halt stops playing and searching.
func (o *owner) halt() { o.playing, o.search, o.skipped, o.changed = false, nil, QuietTime{}, true }

// working reports whether there is work that takes longer than a command may.
func (o *owner) working() bool {
	return o.search != nil || o.previews.Unfinished() || o.recording.NeedsStore(o.memoryLimit)
}

// storing returns a channel that is closed when there is such work. Nil means that there is some now.
func (o *owner) storing() <-chan struct{} {
	if o.search != nil && !o.outrunsDisk() || o.previews.Unfinished() {
		return nil
	}
	return o.recording.Storing()
}

// outrunsDisk reports whether history takes twice its memory limit because the disk is slow. Nothing
// more is played until it has been written; commands are still handled.
func (o *owner) outrunsDisk() bool { return o.recording.NeedsStore(2 * o.memoryLimit) }

// work does a slice of it.
func (o *owner) work() {
	switch {
	case o.search != nil && !o.outrunsDisk():
		o.searchOn()
		o.forgetPast()
	case o.previews.Unfinished():
		o.previews.ComputeNext()
		o.changed = true
	default:
		o.forgetPast()
	}
}

// searchOn continues the search for a slice of time.
func (o *owner) searchOn() {
	s, began := o.search, time.Now()
	if !s.to.IsZero() {
		o.travelOn(s, o.commandWaiting)
		return
	}
	for n := 0; ; n++ {
		if n%16 == 15 && (time.Since(began) > searchSlice || o.commandWaiting != nil && o.commandWaiting()) { // each step may take the model 0.3 ms
			o.changed = true // its progress
			if o.memoryLimit > 0 && !s.Timeline.HasArchive() && s.Timeline.Size() > 2*o.memoryLimit {
				o.search = nil
				o.refuseNotFound("no moment up to %s matches %q, and memory is short: go there and search again", o.zone.Clock(s.Timeline.Executed), s.Condition)
			}
			return
		}
		found, more := s.Step()
		switch {
		case found:
			o.search, o.changed = nil, true
			at, pod := s.Found()
			o.now = at
			if pod != nil {
				o.reply = Reply{Number: o.reply.Number + 1, Pod: pod.Key}
			}
			return
		case !more:
			o.search = nil
			s.Cancel()
			switch since := s.Timeline.KeptSince; {
			case !s.Forward && !since.IsZero():
				o.refuseNotFound("no earlier moment back to %s, where the kept history starts, matches %q", o.zone.Clock(since), s.Condition)
			case s.Forward:
				o.refuseNotFound("no later moment%s matches %q", o.upToRead(), s.Condition)
			default:
				o.refuseNotFound("no earlier moment matches %q", s.Condition)
			}
			return
		}
	}
}

// progress returns what is searched for, and the position of the search.
func (s *search) progress(zone words.Zone) sources.SafeText {
	at := s.Timeline.Executed
	if s.to.IsZero() {
		at = s.Reached()
	}
	return s.Condition.Text + sources.SafeText(" at "+zone.Clock(at))
}

// stepTime pauses and moves d forward, or back if d is negative.
func (o *owner) stepTime(d time.Duration) {
	o.halt()
	o.seek(o.now.Add(d))
}

// The model runs as its result is shown. For a busy cluster's audit log that takes longer than the user
// wants to wait for the next key, so a long Seek works in slices, like a search.

// playSlice is the real time that playback works at once before it shows its progress.
const playSlice = 100 * time.Millisecond

// travel is seek, but the user can stop it on the way.
func (o *owner) travel(to time.Time) {
	t := o.shownTimeline()
	if why := o.whyUnread(to); why != "" {
		o.refuse("%s", why)
		return
	}
	if to.After(t.End) && t.Forked == nil {
		to = t.End
	}
	if t.IsDropped(to) {
		o.replayTo(to)
		return
	}
	if t.Forked != nil || !to.After(t.Executed) {
		o.seek(to)
		return
	}
	o.skipped, o.quiet, o.changed = QuietTime{}, 0, true
	o.search = &search{timeline.Search{Timeline: t, Condition: board.Condition{Text: sources.SafeText(o.zone.Clock(to))}}, to}
	if !o.outrunsDisk() {
		o.travelOn(o.search, nil) // commands that wait already refer to the destination
	}
	o.forgetPast()
}

// travelOn continues a Seek for a slice of time, or until commandWaiting, which may be nil, returns true.
func (o *owner) travelOn(s *search, commandWaiting func() bool) {
	to := s.to
	if s.Timeline.ExecuteFor(searchSlice, to, commandWaiting) {
		o.search = nil
	} else {
		to = s.Timeline.Executed
	}
	o.show(to)
	o.changed = true
}

func (o *owner) seek(at time.Time) {
	if o.fork != nil && at.Sub(o.fork.Executed) > seekLimit {
		o.refuse("a what-if can advance at most %s at once", seekLimit)
		return
	}
	if o.shownTimeline().IsDropped(at) {
		o.replayTo(at)
		return
	}
	o.skipped, o.quiet, o.search, o.changed = QuietTime{}, 0, nil, true
	o.show(at)
}
