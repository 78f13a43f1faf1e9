// Package session plays a source through a queue. It owns the queue, the clock and the history, and
// publishes immutable frames of them.
//
//	commands ──▶ owner ──▶ Frame      play, step, seek, filter, fork, inject, ask
//	               │  ▲
//	   GoTo, Fork, │  │ boards, moves, series
//	   Inject      ▼  │
//	            timelines ──▶ Feed ──▶ the source's events and the model's moves
//
// One goroutine, the one that calls Run, owns all mutable state. It receives the source's events and
// the user's commands, and publishes at most 20 frames a second, and only after a change.
//
// The packages below define what frames consist of. Package session imports all of them and knows
// neither screens nor files.
package session

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// MinSpeed and MaxSpeed limit the playback speed, in model seconds per second.
const (
	MinSpeed = 0.1
	MaxSpeed = 1000
)

// FrameInterval is the shortest time between two frames.
const FrameInterval = 50 * time.Millisecond

// longestAdvance limits how far playback advances at once, so that a program that was suspended
// resumes where it stopped.
const longestAdvance = time.Second

// Session plays a recording. Its methods may be called from any goroutine.
type Session struct {
	commands chan func(*owner)
	frames   chan *Frame
	newest   atomic.Pointer[Frame]
	done     chan struct{}
	owner    *owner
	begun    atomic.Bool // Run or Close was called

	// What the session was made of. rec is nil for a live session.
	rec   atomic.Pointer[sources.Recording]
	first *sources.Recording // the original recording, if rec is a rerun of it
	opts  timeline.Options
}

// New returns a session at the start of rec. It does nothing until Run is called. If Run is never called, call Close.
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
	o.commandWaiting = func() bool { return len(s.commands) > 0 }
	s.newest.Store(s.owner.frame())
	return s
}

// Recorded reports whether the session plays a recording that Cut can make scenarios of.
func (s *Session) Recorded() bool {
	rec := s.rec.Load()
	return rec != nil && !rec.Rerun
}

// Cut makes a scenario of the recording between two times: see scenario.Cut. It runs in the caller's
// goroutine.
func (s *Session) Cut(ctx context.Context, from, to time.Time) (*scenario.Scenario, error) {
	rec := s.rec.Load()
	if rec.Unread {
		return nil, ErrUnread
	}
	return scenario.Cut(ctx, rec, from, to)
}

// Frame returns the newest frame, never nil.
func (s *Session) Frame() *Frame { return s.newest.Load() }

// Frames returns the channel that new frames are sent to. A slow reader misses frames and gets the
// newest. Run closes the channel when it returns.
func (s *Session) Frames() <-chan *Frame { return s.frames }

// Sync waits until all earlier commands have run, and returns the frame after them.
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

// do queues command for the owner.
func (s *Session) do(command func(*owner)) {
	select {
	case s.commands <- command:
	case <-s.done:
	}
}

// Close ends a session that never ran. It does nothing once Run was called.
func (s *Session) Close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	s.Run(ended)
}

// Run runs the owner's loop until ctx ends, and then frees the session's schedulers, files and stream. It does nothing if the
// session has run or was closed.
func (s *Session) Run(ctx context.Context) {
	if !s.begun.CompareAndSwap(false, true) {
		return
	}
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
	for ctx.Err() == nil {
		s.owner.prepare()
		var tick <-chan time.Time
		var work <-chan struct{}
		waiting := s.owner.commandWaiting() // then the user's command goes first
		if !waiting && (s.owner.playing || s.owner.live != nil) {
			tick = ticker.C
		}
		if !waiting && s.owner.working() {
			work = cmp.Or(s.owner.storing(), (<-chan struct{})(always))
		}
		select {
		case <-ctx.Done():
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

// publish makes a frame if anything changed, and returns the newest.
func (s *Session) publish() *Frame {
	if !s.owner.changed {
		return s.Frame()
	}
	f := s.owner.frame()
	s.newest.Store(f)
	select {
	case <-s.frames: // an older one that nobody received
	default:
	}
	s.frames <- f
	return f
}

// Size returns about how many bytes of memory the session uses for itself: the played part of the
// recording and all what-ifs. It excludes the recording's objects, which sessions share. Size is
// estimated from counts, which costs next to nothing, and is as new as the newest frame.
func (s *Session) Size() int64 { return s.Frame().size }

// Rerun returns rec without its scheduler's actions, to be played with the queue rules of release: see
// shadow.Rerun.
func Rerun(rec *sources.Recording, release string) (*sources.Recording, error) {
	return shadow.Rerun(rec, release)
}
