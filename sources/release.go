package sources

import (
	"context"
	"iter"
	"time"
)

// ReleaseSource is where the release of a kube-scheduler is known from.
type ReleaseSource string

// The sources of a release, the most reliable first.
const (
	ReleaseGiven  ReleaseSource = "given"     // set by the user
	ReleaseLogged ReleaseSource = "log"       // its log
	ReleaseAgent  ReleaseSource = "userAgent" // its user agent in requests
	ReleaseImage  ReleaseSource = "image"     // the image of its pod
	ReleaseServer ReleaseSource = "server"    // the API server's own: kube-scheduler is not newer, and at most one minor older
)

var releaseWords = map[ReleaseSource]string{
	ReleaseGiven: "you said so", ReleaseLogged: "its log", ReleaseAgent: "its user agent", ReleaseImage: "its image", ReleaseServer: "the API server's",
}

// Words returns the source in a few words, or "" if unknown.
func (s ReleaseSource) Words() string { return releaseWords[s] }

// Known reports whether s is one of the constants.
func (s ReleaseSource) Known() bool { return s.Words() != "" }

// WithRelease returns events with their scheduler's release replaced by one that the user set. It does not modify events.
func WithRelease(events []Event, release SafeText) []Event {
	if len(events) == 0 {
		return events
	}
	out := make([]Event, 0, len(events)+1)
	out = append(out, givenRelease(events[0].Time, release))
	return appendReleased(out, events, release)
}

// appendReleased appends events to out with the release replaced.
func appendReleased(out, events []Event, release SafeText) []Event {
	for _, ev := range events {
		if ev, keep := released(ev, release); keep {
			out = append(out, ev)
		}
	}
	return out
}

// released returns ev with its release replaced, and false if ev contains nothing but a release.
func released(ev Event, release SafeText) (Event, bool) {
	switch f := ev.Fact.(type) {
	case *SchedulerRunning:
		return ev, false
	case *SchedulerStarted:
		given := *f
		given.Release, given.ReleaseInferred, given.From = release, false, ReleaseGiven
		ev.Fact = &given
	}
	return ev, true
}

// WithRelease applies WithRelease to the recording's events. It does not keep those of a long recording.
func (r *Recording) WithRelease(release SafeText) *Recording {
	of := *r
	of.Events = WithRelease(r.Events, release)
	if r.Reread != nil {
		of.Reread = func(ctx context.Context) iter.Seq2[Event, error] { return againWithRelease(r.Reread(ctx), release) }
	}
	return &of
}

// againWithRelease is WithRelease for an iterator.
func againWithRelease(events iter.Seq2[Event, error], release SafeText) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		begun := false
		for ev, err := range events {
			if err == nil && !begun {
				begun = true
				if !yield(givenRelease(ev.Time, release), nil) {
					return
				}
			}
			ev, keep := released(ev, release)
			if (err != nil || keep) && !yield(ev, err) {
				return
			}
		}
	}
}

// givenRelease returns the event of a release that the user set.
func givenRelease(at time.Time, release SafeText) Event {
	return Event{Time: at, Fact: &SchedulerRunning{Release: release, From: ReleaseGiven}}
}

// StreamWithRelease is WithRelease for a stream.
func StreamWithRelease(s Stream, release SafeText) Stream {
	return &releasedStream{Stream: s, release: release}
}

type releasedStream struct {
	Stream
	release SafeText
	given   bool // the release was reported
}

// Take implements Stream.
func (s *releasedStream) Take() ([]Event, Status) {
	events, status := s.Stream.Take()
	if s.given {
		return appendReleased(nil, events, s.release), status
	}
	s.given = len(events) > 0
	return WithRelease(events, s.release), status
}
