package session

import (
	"context"
	"errors"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// A long recording is played while it is read: first by what its beginning tells of it (sources.Recording.Unread), up to where it is
// read, which is its end until then; and once all is read, by what all of it tells, at the same moment.

// Reading says how far a recording is read that is played meanwhile.
type Reading struct {
	// To is the moment up to which it is read.
	To time.Time
	// Share is how much of it that is, from 0 to 1, and Left how long the rest takes, in real time. Both are zero if that is not known.
	Share float64
	Left  time.Duration
}

// ErrUnread says what can't be done with a recording of which more is to be read.
var ErrUnread = errors.New("the recording is not read to its end yet")

// ReadTo says how far the session's recording is read, which is not read to its end yet.
func (s *Session) ReadTo(r Reading) {
	s.do(func(o *owner) {
		if o.reading == nil {
			return
		}
		o.recording.ReadTo(r.To)
		o.reading, o.changed = &r, true
	})
}

// Complete has the session go on with rec: its recording, read to its end. It stays at the moment that it shows, with its what-ifs, marks
// and filter. What was played by then is played again first, in the caller's goroutine, until ctx ends.
func (s *Session) Complete(ctx context.Context, rec *sources.Recording) {
	opts := s.opts
	opts.Opens, opts.Paused = 0, true
	shown := make(chan time.Time, 1)
	s.do(func(o *owner) { shown <- o.recordingNow() })
	whole := newOwner(rec, opts)
	bound := whole.bound
	whole.bound = bound / 2 // and the other half is of what is shown
	select {
	case at := <-shown:
		whole.travel(at)
		whole.finish(ctx)
	case <-s.done:
	}
	handed := make(chan bool, 1)
	s.do(func(o *owner) {
		o.complete(whole)
		o.bound = max(bound, whole.bound) // which is more if its file was lost
		s.rec.Store(rec)
		handed <- true
	})
	select {
	case <-handed:
	case <-s.done:
		if len(handed) == 0 {
			whole.recording.Feed.Close()
		}
	}
}

// finish does all that takes longer than a command may, until ctx ends.
func (o *owner) finish(ctx context.Context) {
	for o.working() && ctx.Err() == nil {
		if storing := o.awaits(); storing != nil {
			<-storing
		}
		o.work()
	}
}

// StopReading says why the session's recording can't be read to its end: what is read of it is all there is.
func (s *Session) StopReading(why error) {
	s.do(func(o *owner) {
		o.reading = nil
		o.notices = append(o.notices[:len(o.notices):len(o.notices)], why.Error())
		o.refuse("read on: %s", why)
	})
}

// recordingNow is the moment at which the recording stands, also while a what-if is shown.
func (o *owner) recordingNow() time.Time {
	if o.fork != nil {
		return o.left
	}
	return o.now
}

// complete takes the recording of whole in place of its own.
func (o *owner) complete(whole *owner) {
	was, t, s := o.recording, whole.recording, o.search
	o.subject, o.recording, o.reading = whole.subject, t, nil
	o.addMarks(was.Marks) // some may be behind its end
	t.SetView(t.Shown, was.Shown.View, o.recordingNow())
	was.Feed.Close()
	if o.needsOf == was {
		o.needs, o.needsOf = nil, nil
	}
	if o.compared == was {
		o.compared = t
	}
	o.endPreview()
	said := "all is read, up to " + o.zone.Clock(t.End)
	if o.fork != nil {
		o.leftAt = t.Cursor
		o.say("%s", said)
		return
	}
	o.search = nil
	if o.travel(o.now); o.search == nil {
		if c := board.Compare(was.Shown, t.Shown); c.Total > 0 {
			said += ": " + words.Times(c.Total, "pod") + " now elsewhere than its beginning told"
		}
		if s != nil && s.to.IsZero() {
			o.find(s.Condition, s.Forward)
		}
	}
	if s != nil && !s.to.IsZero() {
		o.travel(s.to)
	}
	o.say("%s", said)
}

// asFarAsRead says of what is looked for that there may be more of it. Empty once all is read.
func (o *owner) asFarAsRead() string {
	if o.reading == nil || o.fork != nil {
		return ""
	}
	return ", as far as is read, up to " + o.zone.Clock(o.recording.End) + ","
}

// unread returns why a moment can't be gone to that is not read yet. Empty if it can.
func (o *owner) unread(at time.Time) string {
	if o.reading == nil || o.fork != nil || !at.After(o.recording.End) {
		return ""
	}
	return o.zone.Clock(at) + " is not read yet: it is read up to " + o.zone.Clock(o.recording.End)
}
