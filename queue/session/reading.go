package session

import (
	"context"
	"errors"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// A long recording is played while it is read: first based on what its beginning contains
// (sources.Recording.Unread), up to the position read so far; once all is read, based on all of it, at
// the same time shown.

// Reading is the progress of reading a recording that is already being played.
type Reading struct {
	// To is the time up to which it is read.
	To time.Time
	// Share is the share read, from 0 to 1, and Left the real time that the rest takes. Both are zero
	// if unknown.
	Share float64
	Left  time.Duration
}

// ErrUnread is returned by what needs the whole recording while it is still being read.
var ErrUnread = errors.New("the recording is still being read")

// ReadTo updates the progress of reading the session's recording.
func (s *Session) ReadTo(r Reading) {
	s.do(func(o *owner) {
		if o.reading == nil {
			return
		}
		o.recording.ReadTo(r.To)
		o.reading, o.changed = &r, true
	})
}

// Complete replaces the session's recording by rec, the same recording read to its end. The session
// keeps the time shown, its what-ifs, marks and filter. The part played so far is first replayed in the
// caller's goroutine, until ctx ends.
func (s *Session) Complete(ctx context.Context, rec *sources.Recording) {
	opts := s.opts
	opts.StartOffset, opts.Paused = 0, true
	shown := make(chan time.Time, 1)
	s.do(func(o *owner) { shown <- o.recordingNow() })
	whole := newOwner(rec, opts)
	bound := whole.memoryLimit
	whole.memoryLimit = bound / 2 // the other half is for the recording shown
	select {
	case at := <-shown:
		whole.travel(at)
		whole.finish(ctx)
	case <-s.done:
	}
	handed := make(chan bool, 1)
	s.do(func(o *owner) {
		o.complete(whole)
		o.memoryLimit = max(bound, whole.memoryLimit) // more if its file was lost
		s.rec.Store(rec)
		handed <- true
	})
	select {
	case <-handed:
	case <-s.done:
		if len(handed) == 0 {
			whole.close()
		}
	}
}

// finish does all long-running work, until ctx ends.
func (o *owner) finish(ctx context.Context) {
	for o.working() && ctx.Err() == nil {
		if storing := o.storing(); storing != nil {
			<-storing
		}
		o.work()
	}
}

// StopReading ends reading the session's recording early: only the part read so far is played.
func (s *Session) StopReading(why error) {
	s.do(func(o *owner) {
		o.reading = nil
		o.notices = append(o.notices[:len(o.notices):len(o.notices)], why.Error())
		o.refuse("read on: %s", why)
	})
}

// recordingNow returns the time shown in the recording, also while a what-if is shown.
func (o *owner) recordingNow() time.Time {
	if o.fork != nil {
		return o.returnTo
	}
	return o.now
}

// complete replaces the owner's recording by that of whole.
func (o *owner) complete(whole *owner) {
	was, t, s := o.recording, whole.recording, o.search
	o.subject, o.recording, o.reading = whole.subject, t, nil
	o.addMarks(was.Marks) // some may be after its end
	t.SetView(t.Shown, was.Shown.View, o.recordingNow())
	was.CloseFeed()
	if o.needsOf == was {
		o.needs, o.needsOf = nil, nil
	}
	if o.compared == was {
		o.compared = t
	}
	o.endPreview()
	text := "read to the end, " + o.zone.Clock(t.End)
	if o.fork != nil {
		o.returnCursor = t.Cursor
		o.say("%s", text)
		return
	}
	o.search = nil
	if o.travel(o.now); o.search == nil {
		if c := board.Compare(was.Shown, t.Shown); c.Total > 0 {
			text += ": " + words.Plural(c.Total, "pod") + " moved, now that the whole recording is known"
		}
		if s != nil && s.to.IsZero() {
			o.find(s.Condition, s.Forward)
		}
	}
	if s != nil && !s.to.IsZero() {
		o.travel(s.to)
	}
	o.say("%s", text)
}

// upToRead returns a note for searches that there may be more to read, or "" once all is read.
func (o *owner) upToRead() string {
	if o.reading == nil || o.fork != nil {
		return ""
	}
	return " (read up to " + o.zone.Clock(o.recording.End) + ")"
}

// whyUnread returns why at can't be shown yet, or "" if it can.
func (o *owner) whyUnread(at time.Time) string {
	if o.reading == nil || o.fork != nil || !at.After(o.recording.End) {
		return ""
	}
	return o.zone.Clock(at) + " is not read yet: read up to " + o.zone.Clock(o.recording.End)
}
