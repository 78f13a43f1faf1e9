package live

// The scheduler's clock may differ from this machine's, and a cluster may be far away.
//
// The times of failed attempts and of the lease are by the scheduler's clock. Everything else has the time at which it
// arrives, by this machine's clock. The clocks may differ, and a distant cluster adds a delay. So the scheduler's times
// are moved by the shortest observed lag, which keeps an attempt after the events that led to it.

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/sources"
)

// Delays contains the shortest recent delays of the scheduler's writes and of the API server's responses.
type Delays struct {
	writes   shortest // from an action of the scheduler, by its clock, to its arrival, by this machine's
	answers  shortest // from a small request to its response
	first    time.Time
	renewed  bool // writes includes a renewal of the lease, which is not rate-limited
	reported time.Duration
}

const (
	// leastWrite is the shortest time from a write of the scheduler to its delivery. Measured with renewals of leases
	// on one machine; equals the model's shortestRequest.
	leastWrite = 3 * time.Millisecond
	// settling is how long Events must have arrived before the offset follows from them alone: the first ones may have
	// been rate-limited. Chosen: five times as long as the client needs to send a hundred.
	settling = 10 * time.Second
	// muchAhead is the offset from which the user is notified.
	muchAhead = 250 * time.Millisecond
)

// Heard records the arrival at now of an action that the scheduler took at at, by its own clock.
func (d *Delays) Heard(now, at time.Time, renewal bool) {
	by := now.Sub(at)
	if by.Abs() > sources.FarApart {
		return
	}
	if d.first.IsZero() {
		d.first = now
	}
	d.renewed = d.renewed || renewal
	d.writes.add(now, by)
}

// Answered records a response of the API server at now, and its duration.
func (d *Delays) Answered(now time.Time, took time.Duration) { d.answers.add(now, took) }

// Answers returns the shortest recent duration of a response, or 0 before the first.
func (d *Delays) Answers() time.Duration {
	answers, _ := d.answers.least()
	return answers
}

// Offset returns the difference between the arrival of an immediate write, by this machine's clock, and its time by
// the scheduler's clock. It is 0 while unknown.
func (d *Delays) Offset(now time.Time) time.Duration {
	by, known := d.writes.least()
	if !known || !d.renewed && now.Sub(d.first) < settling {
		return 0
	}
	return by - leastWrite
}

// Ahead returns how far this machine's clock is ahead of the scheduler's. It is negative if it is behind, and 0 while
// unknown. Both directions of a request are assumed to take equally long.
func (d *Delays) Ahead(now time.Time) time.Duration {
	offset := d.Offset(now)
	answers, asked := d.answers.least()
	if offset == 0 || !asked {
		return 0
	}
	return offset - answers/2
}

// Notice returns a sentence about differing clocks, or "". It changes only with a large change of the offset.
func (d *Delays) Notice(now time.Time) string {
	if by := d.Ahead(now); now.Sub(d.first) >= settling && (by-d.reported).Abs() >= max(muchAhead, d.reported.Abs()/2) {
		d.reported = by
	}
	how := "ahead of"
	switch {
	case d.reported.Abs() < muchAhead:
		return ""
	case d.reported < 0:
		how = "behind"
	}
	return fmt.Sprintf("This machine's clock is about %s %s the scheduler's. schedq corrects the scheduler's times.", d.reported.Abs().Round(100*time.Millisecond), how)
}

// shortest is the shortest duration of this span and the one before it.
type shortest struct {
	began         time.Time // this span
	now, before   time.Duration
	came, earlier bool
}

// span is how long a duration is kept at least. Chosen: it contains thirty renewals of a lease, and a clock that is
// set is corrected within two spans.
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

// least returns the shortest duration, and false if there is none.
func (s *shortest) least() (time.Duration, bool) {
	if s.earlier && s.before < s.now {
		return s.before, true
	}
	return s.now, s.came
}
