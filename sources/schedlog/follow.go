package schedlog

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Follower reads a log line by line, while kube-scheduler writes it.
type Follower struct {
	p      *parser
	number int
	shift  time.Duration // from the log's clock, which may be of another time zone, to UTC
	known  bool          // the shift is
	read   time.Time     // after Lose: lines up to it were read before. Zero once a later one was
}

// NewFollower returns a follower of the named log.
func NewFollower(name sources.SafeText) *Follower {
	f := &Follower{}
	f.p = &parser{lines: &place{name: string(name), follower: f}, part: &sources.Part{Format: Format}, follows: true, places: map[types.NamespacedName]time.Time{}}
	f.p.reset()
	f.p.verbosity.enter(time.Time{}, unknown)
	return f
}

// unknown is the verbosity of a log of which no line has told it yet, and that of one that has ended.
const unknown = -1

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
	if !f.read.IsZero() {
		bare, _, _ := unwrap(line)
		h, ok := parseHeader(bare)
		if !ok || !f.p.clock.time(&h).After(f.read) {
			return nil
		}
		f.read = time.Time{}
	}
	return f.p.read(line)
}

// settled is how long later lines may add to what an earlier one told.
const settled = 200 * time.Millisecond

// Take returns the events up to shortly before now that were not taken yet: moves where the log tells all of them,
// *sources.FailedAttempt and *sources.Bound where it is below 5, and before these *sources.Logged.
func (f *Follower) Take(now time.Time) []sources.Event {
	due := now.Add(-settled - f.shift)
	events := f.p.verbosity.takeBy(due, f.p.part)
	for i := range events {
		ev := &events[i]
		ev.Time = ev.Time.Add(f.shift)
		switch fact := ev.Fact.(type) {
		case *sources.Move:
			told := *fact // later lines may add to it
			ev.Fact = &told
		case *sources.FailedAttempt:
			if !fact.Began.IsZero() {
				fact.Began = fact.Began.Add(f.shift)
			}
		case *sources.Bound:
			if !fact.Began.IsZero() {
				fact.Began = fact.Began.Add(f.shift)
			}
		}
	}
	return events
}

// Lose has the log end at now, until the next line: what the scheduler wrote between them is not known. Lines that come a
// second time are left out.
func (f *Follower) Lose(now time.Time) {
	v := &f.p.verbosity
	v.settle()
	v.deep = time.Time{}
	v.forgetQuiet()
	if v.level() != unknown {
		v.enter(now.Add(-f.shift), unknown)
	}
	f.read = f.p.clock.utc(f.p.clock.last)
}

// Verbosity is the log's, as *sources.Logged has it. Negative while no line has told it.
func (f *Follower) Verbosity() int { return f.p.verbosity.level() }

// Known is how many lines were read that only kube-scheduler writes.
func (f *Follower) Known() int { return f.p.known }
