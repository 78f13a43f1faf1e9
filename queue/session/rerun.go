package session

import (
	"context"
	"errors"

	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// Rerun runs the session's recording again, under its own release and under another, and compares the
// two. It also returns a function that opens a session which plays the second run. It takes as long as
// both runs do. Any goroutine may call it, and may be the one that calls progress with the share done.
func (s *Session) Rerun(ctx context.Context, release string, progress func(share float64)) (*report.Comparison, func() *Session, error) {
	rec := s.rec.Load()
	switch {
	case rec == nil:
		return nil, nil, ErrLive
	case rec.Unread:
		return nil, nil, ErrUnread
	}
	from := s.opts
	from.Release = s.Release()
	to := s.opts
	to.Release, to.Paused, to.StartOffset = release, true, 0
	again, err := shadow.Rerun(s.recorded(), release)
	if err != nil {
		return nil, nil, err
	}
	watched := to
	watched.Progress = progress
	c, err := report.Compare(ctx, rec, from, watched)
	if err != nil {
		return nil, nil, err
	}
	c.Runs = [2]string{from.Release, release}
	open := func() *Session {
		played := New(again, to)
		played.first = s.recorded()
		return played
	}
	return c, open, nil
}

// recorded returns the original recording, also if the session plays a rerun of it.
func (s *Session) recorded() *sources.Recording {
	if s.first != nil {
		return s.first
	}
	return s.rec.Load()
}

// Release returns the release whose rules the session's queue follows, one of queue.Releases.
func (s *Session) Release() string {
	if rec := s.rec.Load(); rec != nil {
		return s.opts.ReleaseFor(rec)
	}
	return s.opts.ReleaseFor(&sources.Recording{})
}

// ErrLive is returned for a rerun of a live cluster.
var ErrLive = errors.New("a live cluster can't be run again: replay its recording")
