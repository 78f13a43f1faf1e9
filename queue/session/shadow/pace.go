package shadow

import (
	"slices"
	"time"
)

const (
	// recentOf is of how many values means are, meanStart how many of them at first are what it began with. Chosen: a few
	// seconds of a busy scheduler, and enough that one odd moment turns nothing.
	recentOf, meanStart = 100, 10
	// longestAttempt is how many times as long as usual a time is that is not one attempt's: the loop had a pause. Chosen:
	// one in a thousand of the attempts that were measured took longer.
	longestAttempt = 20
)

// pace is how fast the real scheduler is, learned while it is seen at work: another machine, another load and another
// verbosity of its log make an attempt take a fifth of the time that the model's rules have, or four times of it. That decides
// how often a crowd of pods is tried while events wake them again and again.
//
// The loop goes from one pod to the next without a pause. So where two failures are seen and nothing of the scheduler
// between them, the time between them is one attempt's. Pauses of the loop, and attempts that do not
// show, make some of these times longer. So means are taken, for it is them that say how much fits into a second, but
// without the extremes.
type pace struct {
	attempts recentMean    // how many times as long as nominally attempts took lately
	nominal  time.Duration // what the failed attempt that was seen last took nominally
	failed   time.Time     // its end
	other    bool          // the loop was seen to do something else since
}

// newPace returns a pace of which nothing was seen: attempts take what they do nominally.
func newPace() *pace {
	return &pace{attempts: startAt(1)}
}

// SawFailure learns from an attempt that failed at that time and takes that long nominally.
func (p *pace) SawFailure(at time.Time, nominal time.Duration) {
	if took := at.Sub(p.failed); !p.other && took > 0 && took < longestAttempt*p.Attempt(nominal) {
		p.attempts.add(float64(took) / float64(nominal))
	}
	p.nominal, p.failed, p.other = nominal, at, false
}

// SawOther notes that the loop was seen to do something that is no failed attempt: to bind a pod, or to wait for an answer.
func (p *pace) SawOther() { p.other = true }

// Attempt returns how long an attempt takes that takes nominal by the model's rules.
func (p *pace) Attempt(nominal time.Duration) time.Duration {
	return time.Duration(float64(nominal) * p.attempts.mean())
}

// Longest returns the longest time from one attempt to the next of a loop that has work.
func (p *pace) Longest() time.Duration { return longestAttempt * p.Attempt(p.nominal) }

// recentMean is the mean of the latest values, without a tenth of them at either end.
type recentMean struct {
	values []float64 // as they came, a ring once there are recentOf
	next   int
	known  float64 // the mean, as it was when it was asked for last
	came   bool    // values came since
}

// startAt returns the mean of values the first of which have all been this one.
func startAt(value float64) recentMean {
	return recentMean{values: slices.Repeat([]float64{value}, meanStart), known: value}
}

func (m *recentMean) add(value float64) {
	if m.came = true; len(m.values) < recentOf {
		m.values = append(m.values, value)
		return
	}
	m.values[m.next] = value
	m.next = (m.next + 1) % recentOf
}

func (m *recentMean) mean() float64 {
	if !m.came {
		return m.known
	}
	sorted := slices.Sorted(slices.Values(m.values))
	sum, central := 0.0, sorted[len(sorted)/10:len(sorted)-len(sorted)/10]
	for _, v := range central {
		sum += v
	}
	m.known, m.came = sum/float64(len(central)), false
	return m.known
}
