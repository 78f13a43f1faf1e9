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
	shift  time.Duration // from the log's time zone to UTC
	known  bool          // shift is known
	read   time.Time     // after Lose: lines up to it were read before. Zero once a later line was read
}

// NewFollower returns a follower of the named log.
func NewFollower(name sources.SafeText) *Follower {
	f := &Follower{}
	f.p = &parser{lines: &place{name: string(name), follower: f}, part: &sources.Part{Format: Format}, follows: true, places: map[types.NamespacedName]time.Time{}}
	f.p.reset()
	f.p.verbosity.enter(time.Time{}, unknown)
	return f
}

// unknown is the verbosity of a log before a line shows it and after its end.
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
func (p *place) ReadInPart(line int, cause error) error {
	return fmt.Errorf("%s, line %d: %w", p.name, line, cause)
}
func (p *place) Skip(error)      {}
func (p *place) Repeated() error { return nil }

// Line reads a line that was written at about now. An error concerns only that line.
func (f *Follower) Line(line []byte, now time.Time) error {
	f.number++
	if !f.known {
		f.p.clock.hint.Near = now.UTC()
		if h, ok := parseHeader(line); ok {
			f.shift, f.known = now.Sub(f.p.clock.time(&h)).Round(quarter), true
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

// settled is how long later lines may add to an earlier one.
const settled = 200 * time.Millisecond

// Take returns the new events up to shortly before now: moves where the log has all of them, *sources.FailedAttempt and
// *sources.Bound where it is below -v=5, and before these *sources.Logged.
func (f *Follower) Take(now time.Time) []sources.Event {
	due := now.Add(-settled - f.shift)
	events := f.p.verbosity.takeBy(due, f.p.part)
	for i := range events {
		ev := &events[i]
		ev.Time = ev.Time.Add(f.shift)
		switch fact := ev.Fact.(type) {
		case *sources.Move:
			complete := *fact // later lines may add to it
			ev.Fact = &complete
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

// Lose ends the log at now until the next line: the scheduler may have written lines between them. Lines that were
// already read are skipped.
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

// Verbosity returns the log's verbosity, as in *sources.Logged. Negative while unknown.
func (f *Follower) Verbosity() int { return f.p.verbosity.level() }

// Known returns how many lines were read that only kube-scheduler writes.
func (f *Follower) Known() int { return f.p.known }
