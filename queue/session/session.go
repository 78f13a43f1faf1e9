// Package session runs a queue from a source: it owns the queue, the clock and the history, and hands
// out immutable frames of them.
//
//	commands ──▶ owner ──▶ Frame      a person plays, steps, seeks, filters, forks, injects, asks
//	               │  ▲
//	   GoTo, Fork, │  │ boards, moves, series
//	   Inject      ▼  │
//	            timelines ──▶ Feed ──▶ the source's events, and the model's moves
//
// One goroutine owns everything that changes: the one that calls Run. In go the source's events and the person's
// commands; out comes a Frame at most 20 times a second, and only when something changed. Nothing of a Frame changes.
//
// What frames are made of is in the packages below, and screens and commands see it by the names of rooms.go. The
// package imports all rooms of the session; it knows no screen and no file.
package session

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// MinSpeed and MaxSpeed bound the speed of playing, in model seconds a second.
const (
	MinSpeed = 0.1
	MaxSpeed = 1000
)

// FrameInterval is the shortest time between two frames.
const FrameInterval = 50 * time.Millisecond

// longestAdvance is how much time passes at once at the most: a program that was suspended goes on where
// it was.
const longestAdvance = time.Second

// Session plays a recording. Its methods may be called from any goroutine.
type Session struct {
	commands chan func(*owner)
	frames   chan *Frame
	newest   atomic.Pointer[Frame]
	done     chan struct{}
	owner    *owner

	// What it was made of. rec is nil if it is live.
	rec   atomic.Pointer[sources.Recording]
	first *sources.Recording // unless rec is that, what a rerun was made of
	opts  timeline.Options
}

// New returns a session at the start of rec. It does nothing until Run.
func New(rec *sources.Recording, opts timeline.Options) *Session {
	s := newSession(newOwner(rec, opts))
	s.rec.Store(rec)
	s.opts = opts
	return s
}

func newSession(o *owner) *Session {
	s := &Session{
		commands: make(chan func(*owner), 64),
		frames:   make(chan *Frame, 1),
		done:     make(chan struct{}),
		owner:    o,
	}
	o.isAwaited = func() bool { return len(s.commands) > 0 }
	s.newest.Store(s.owner.frame())
	return s
}

// Recorded reports whether it is of a recording, of which Cut makes scenarios.
func (s *Session) Recorded() bool {
	rec := s.rec.Load()
	return rec != nil && !rec.Rerun
}

// Cut makes a scenario of the recording from one moment to another: see scenario.Cut. It works in the caller's goroutine.
func (s *Session) Cut(ctx context.Context, from, to time.Time) (*scenario.Scenario, error) {
	rec := s.rec.Load()
	if rec.Unread {
		return nil, ErrUnread
	}
	return scenario.Cut(ctx, rec, from, to)
}

// Frame returns the newest frame. It is never nil.
func (s *Session) Frame() *Frame { return s.newest.Load() }

// Frames hands out frames as they are made. A reader that is slow misses some and gets the newest. It
// is closed when Run returns.
func (s *Session) Frames() <-chan *Frame { return s.frames }

// Sync waits until the commands given before it are carried out, and returns the frame after them.
func (s *Session) Sync() *Frame {
	ready := make(chan *Frame, 1)
	s.do(func(o *owner) {
		o.finish(context.Background())
		ready <- s.publish()
	})
	select {
	case f := <-ready:
		return f
	case <-s.done:
		return s.Frame()
	}
}

// do has the owner carry out command.
func (s *Session) do(command func(*owner)) {
	select {
	case s.commands <- command:
	case <-s.done:
	}
}

// Run is the owner's loop. It returns when ctx ends.
func (s *Session) Run(ctx context.Context) {
	defer close(s.frames)
	defer s.runStream(ctx)()
	defer close(s.done)
	defer s.owner.close()
	s.publish()
	ticker := time.NewTicker(FrameInterval)
	defer ticker.Stop()
	last, published := time.Now(), time.Now()
	always := make(chan struct{})
	close(always)
	for {
		s.owner.prepare()
		var tick <-chan time.Time
		var work <-chan struct{}
		isAwaited := s.owner.isAwaited() // then a person's command comes before all else
		if !isAwaited && (s.owner.playing || s.owner.live != nil) {
			tick = ticker.C
		}
		if !isAwaited && s.owner.working() {
			work = cmp.Or(s.owner.awaits(), (<-chan struct{})(always))
		}
		select {
		case <-ctx.Done():
			return
		case command := <-s.commands:
			was := s.owner.playing
			command(s.owner)
			if !was {
				last = time.Now()
			}
			if len(s.commands) == 0 {
				s.publish()
			}
		case <-tick:
			now := time.Now()
			s.owner.poll(now)
			s.owner.advance(min(now.Sub(last), longestAdvance))
			last = now
			s.publish()
		case <-work:
			s.owner.work()
			if !s.owner.working() || time.Since(published) >= FrameInterval {
				s.publish()
				published = time.Now()
			}
		}
	}
}

// publish makes a frame of what changed, if anything did, and returns the newest.
func (s *Session) publish() *Frame {
	if !s.owner.changed {
		return s.Frame()
	}
	f := s.owner.frame()
	s.newest.Store(f)
	select {
	case <-s.frames: // an older one that nobody took
	default:
	}
	s.frames <- f
	return f
}

// Size is about how many bytes of memory the session holds for itself: the past of the recording as far as it was
// played, and all what-ifs. The recording's own objects, which sessions share, are not counted. It is reckoned from how
// much there is of each thing, which costs next to nothing, and is as new as the newest frame.
func (s *Session) Size() int64 { return s.Frame().size }

// Rerun returns rec without what its scheduler did, to be played under the queue's rules of release: see model.Rerun.
func Rerun(rec *sources.Recording, release string) (*sources.Recording, error) {
	return model.Rerun(rec, release)
}
