package sources

import (
	"context"
	"iter"
	"time"
)

// ReleaseSource is what tells of which release a kube-scheduler is.
type ReleaseSource string

// What can tell it, the surest first.
const (
	ReleaseGiven  ReleaseSource = "given"     // a person said so
	ReleaseLogged ReleaseSource = "log"       // its log
	ReleaseAgent  ReleaseSource = "userAgent" // what it calls itself to the API server
	ReleaseImage  ReleaseSource = "image"     // the image of its pod
	ReleaseServer ReleaseSource = "server"    // the API server's own: kube-scheduler is not newer, and at most one minor older
)

// releaseWords say in a few words what tells a release.
var releaseWords = map[ReleaseSource]string{
	ReleaseGiven: "you said so", ReleaseLogged: "its log", ReleaseAgent: "its user agent", ReleaseImage: "its image", ReleaseServer: "the API server's",
}

// Words says in a few words what tells the release, or "" if that is not known.
func (s ReleaseSource) Words() string { return releaseWords[s] }

// Known reports whether it is one of those.
func (s ReleaseSource) Known() bool { return s.Words() != "" }

// WithRelease returns events as if they told that their scheduler is of that release, and of no other, because a person
// said so. The events stay as they are.
func WithRelease(events []Event, release SafeText) []Event {
	if len(events) == 0 {
		return events
	}
	out := make([]Event, 0, len(events)+1)
	out = append(out, heardGiven(events[0].Time, release))
	return appendReleased(out, events, release)
}

// appendReleased appends events to out, with that release where they tell one.
func appendReleased(out, events []Event, release SafeText) []Event {
	for _, ev := range events {
		if ev, tells := released(ev, release); tells {
			out = append(out, ev)
		}
	}
	return out
}

// released returns ev with that release if it tells one. False is that it tells nothing else.
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

// WithRelease returns the recording with its events as WithRelease has them. A long one is not kept for that.
func (r *Recording) WithRelease(release SafeText) *Recording {
	of := *r
	of.Events = WithRelease(r.Events, release)
	if r.Reread != nil {
		of.Reread = func(ctx context.Context) iter.Seq2[Event, error] { return againWithRelease(r.Reread(ctx), release) }
	}
	return &of
}

// againWithRelease yields events as WithRelease has them.
func againWithRelease(events iter.Seq2[Event, error], release SafeText) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		begun := false
		for ev, err := range events {
			if err == nil && !begun {
				begun = true
				if !yield(heardGiven(ev.Time, release), nil) {
					return
				}
			}
			ev, tells := released(ev, release)
			if (err != nil || tells) && !yield(ev, err) {
				return
			}
		}
	}
}

// heardGiven says that a person said of which release the scheduler is.
func heardGiven(at time.Time, release SafeText) Event {
	return Event{Time: at, Fact: &SchedulerRunning{Release: release, From: ReleaseGiven}}
}

// StreamWithRelease returns s as WithRelease has events.
func StreamWithRelease(s Stream, release SafeText) Stream {
	return &releasedStream{Stream: s, release: release}
}

type releasedStream struct {
	Stream
	release SafeText
	told    bool // that it is of the release
}

// Take implements Stream.
func (s *releasedStream) Take() ([]Event, Status) {
	events, status := s.Stream.Take()
	if s.told {
		return appendReleased(nil, events, s.release), status
	}
	s.told = len(events) > 0
	return WithRelease(events, s.release), status
}
