package schedlog

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/sources"
)

// Follower reads a log line by line, while kube-scheduler writes it.
type Follower struct {
	p      *parser
	number int
	shift  time.Duration // from the log's clock, which may be of another time zone, to UTC
	known  bool          // the shift is
}

// NewFollower returns a follower of the named log.
func NewFollower(name sources.SafeText) *Follower {
	f := &Follower{}
	f.p = &parser{lines: &place{name: string(name), follower: f}, part: &sources.Part{Format: Format}}
	f.p.reset()
	return f
}

// place is where a follower is, for errors.
type place struct {
	name     string
	follower *Follower
}

func (p *place) Name() string { return p.name }
func (p *place) Line() int    { return p.follower.number }
func (p *place) Unread(cause error) error {
	return fmt.Errorf("%s, line %d: %w", p.name, p.Line(), cause)
}
func (p *place) Torn(line int, cause error) error {
	return fmt.Errorf("%s, line %d: %w", p.name, line, cause)
}
func (p *place) Skip(error) {}

// zone is what time zones differ by.
const zone = 15 * time.Minute

// Line reads a line that was written at about now. An error is about that line alone.
func (f *Follower) Line(line []byte, now time.Time) error {
	f.number++
	if !f.known {
		f.p.clock.hint.Near = now.UTC()
		if h, ok := parseHeader(line); ok {
			f.shift, f.known = now.Sub(f.p.clock.time(&h)).Round(zone), true
		}
	}
	return f.p.read(line)
}

// settled is how long later lines may add to what an earlier one told.
const settled = 200 * time.Millisecond

// Take returns the events up to shortly before now that were not taken yet.
func (f *Follower) Take(now time.Time) []sources.Event {
	f.p.verbosity.forget() // what a log below 5 tells is not followed
	var events []sources.Event
	i := 0
	for ; i < len(f.p.part.Events); i++ {
		ev := f.p.part.Events[i]
		ev.Time = ev.Time.Add(f.shift)
		if now.Sub(ev.Time) < settled {
			break
		}
		if m, ok := ev.Fact.(*sources.Move); ok {
			told := *m // later lines may add to m
			ev.Fact = &told
		}
		events = append(events, ev)
	}
	f.p.part.Events = append(f.p.part.Events[:0:0], f.p.part.Events[i:]...)
	return events
}

// TellsMoves reports whether lines were read that only come at -v=5 and above. Known counts those that only
// kube-scheduler writes.
func (f *Follower) TellsMoves() bool { return !f.p.verbosity.deep.IsZero() }

// Known is described with TellsMoves.
func (f *Follower) Known() int { return f.p.known }
