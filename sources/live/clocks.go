package live

// The scheduler's clock may differ from this machine's, and a cluster may be far away.
//
// The scheduler says by its own clock when an attempt failed and when it took its lease; all else is stamped here, by this
// machine's clock, as it comes. The two clocks may differ, and what comes from far away comes late. So the scheduler's
// times are put where they would be had it told them at once: what is stamped here before an attempt that follows from it
// stays before it.

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/sources"
)

// Delays are how long what the scheduler and the API server say takes to come here, each at the least, lately.
type Delays struct {
	told    shortest // from when the scheduler does something, by its clock, until that is heard of here, by this machine's
	answers shortest // from a request that asks for next to nothing to its answer
	first   time.Time
	renewed bool // a renewal of the lease is among what was heard: those wait for no rate limit
	said    time.Duration
}

const (
	// leastWrite is how long what the scheduler writes takes at the least until anybody can hear of it. Measured by renewals
	// of leases on one machine; it is the model's shortestRequest.
	leastWrite = 3 * time.Millisecond
	// settling is for how long Events alone must have come to tell of the clocks: the first ones may have waited for the rate
	// limit of the client that writes them. Chosen: five times what that needs to send a hundred.
	settling = 10 * time.Second
	// muchAhead is how far they must be apart for a person to be told.
	muchAhead = 250 * time.Millisecond
)

// Heard takes in that it was heard of at now that the scheduler did something at that time, by its own clock.
func (d *Delays) Heard(now, at time.Time, renewal bool) {
	by := now.Sub(at)
	if by.Abs() > sources.FarApart {
		return
	}
	if d.first.IsZero() {
		d.first = now
	}
	d.renewed = d.renewed || renewal
	d.told.add(now, by)
}

// Answered takes in that the API server answered at now what it was asked so long before.
func (d *Delays) Answered(now time.Time, took time.Duration) { d.answers.add(now, took) }

// Answers returns how long an answer takes at the least. 0 while none has come.
func (d *Delays) Answers() time.Duration {
	answers, _ := d.answers.least()
	return answers
}

// Offset returns by how much later than by its own clock one would hear of here what the scheduler tells at once. 0 while it is not
// known.
func (d *Delays) Offset(now time.Time) time.Duration {
	by, known := d.told.least()
	if !known || !d.renewed && now.Sub(d.first) < settling {
		return 0
	}
	return by - leastWrite
}

// Ahead returns how far this machine's clock is ahead of the scheduler's: negative if it is behind, and 0 while that is not
// known. An answer is taken to need as long each way.
func (d *Delays) Ahead(now time.Time) time.Duration {
	offset := d.Offset(now)
	answers, asked := d.answers.least()
	if offset == 0 || !asked {
		return 0
	}
	return offset - answers/2
}

// Notice returns a sentence about clocks that are apart, or "". It stays as it is unless what it says has changed much.
func (d *Delays) Notice(now time.Time) string {
	if by := d.Ahead(now); now.Sub(d.first) >= settling && (by-d.said).Abs() >= max(muchAhead, d.said.Abs()/2) {
		d.said = by
	}
	how := "ahead of"
	switch {
	case d.said.Abs() < muchAhead:
		return ""
	case d.said < 0:
		how = "behind"
	}
	return fmt.Sprintf("This machine's clock is about %s %s the scheduler's: the times that the scheduler tells are put right by that.", d.said.Abs().Round(100*time.Millisecond), how)
}

// shortest is the least of the durations that came lately: in this span, or in the one before it.
type shortest struct {
	began         time.Time // this span
	now, before   time.Duration
	came, earlier bool
}

// span is for how long at the least a duration is remembered. Chosen: a lease is renewed thirty times in it, and a clock that was
// set is followed within two.
const span = time.Minute

func (s *shortest) add(at time.Time, d time.Duration) {
	if age := at.Sub(s.began); age >= span || age < 0 {
		s.before, s.earlier = s.now, s.came && age >= 0 && age < 2*span
		s.began, s.came = at, false
	}
	if !s.came || d < s.now {
		s.now, s.came = d, true
	}
}

// least returns it, and false if nothing came.
func (s *shortest) least() (time.Duration, bool) {
	if s.earlier && s.before < s.now {
		return s.before, true
	}
	return s.now, s.came
}
