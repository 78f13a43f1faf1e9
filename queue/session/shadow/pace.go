package shadow

import (
	"slices"
	"time"
)

const (
	// recentOf is how many values a recentMean covers. meanStart is how many of them initially have
	// the start value. Chosen: recentOf values cover a few seconds of a busy scheduler, and a
	// single outlier has little effect.
	recentOf, meanStart = 100, 10
	// longestAttempt is the multiple of the usual time from which an interval is not counted as one
	// attempt: the loop paused. Chosen: one in a thousand of the measured attempts took longer.
	longestAttempt = 20
)

// pace learns the real scheduler's speed from observations. Depending on the machine, the load and
// the log verbosity, an attempt takes between a fifth of the nominal time and four times the
// nominal time. The pace determines how often a crowd of pods is tried while events keep waking
// them.
//
// The loop takes one pod after another without a pause. So if two failures are observed with no
// other scheduler activity in between, the interval is the duration of one attempt. Pauses of the
// loop and attempts without a trace lengthen some intervals. The pace is therefore a mean without
// the extremes: the mean determines how many attempts fit into a second.
type pace struct {
	attempts recentMean    // ratio of recent to nominal attempt durations
	nominal  time.Duration // nominal duration of the last observed failed attempt
	failed   time.Time     // when that attempt ended
	other    bool          // other activity of the loop was observed since
}

// newPace returns a pace without observations: attempts take their nominal time.
func newPace() *pace {
	return &pace{attempts: startAt(1)}
}

// SawFailure learns from a failed attempt that ended at at and has that nominal duration.
func (p *pace) SawFailure(at time.Time, nominal time.Duration) {
	if took := at.Sub(p.failed); !p.other && took > 0 && took < longestAttempt*p.Attempt(nominal) {
		p.attempts.add(float64(took) / float64(nominal))
	}
	p.nominal, p.failed, p.other = nominal, at, false
}

// SawOther records loop activity other than a failed attempt: a binding, or a wait for an answer.
func (p *pace) SawOther() { p.other = true }

// Attempt scales the nominal duration of an attempt to the learned pace.
func (p *pace) Attempt(nominal time.Duration) time.Duration {
	return time.Duration(float64(nominal) * p.attempts.mean())
}

// Longest returns the longest interval between two attempts of a loop that has work.
func (p *pace) Longest() time.Duration { return longestAttempt * p.Attempt(p.nominal) }

// recentMean is the mean of the latest values, excluding the lowest and the highest tenth.
type recentMean struct {
	values []float64 // in order of arrival; a ring buffer once it has recentOf values
	next   int
	known  float64 // the mean as last computed
	came   bool    // values were added since
}

// startAt returns a recentMean whose initial values all equal value.
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

// Nominal durations of attempts. Measured: averages of real schedulers that logged at -v=6.
const (
	// attemptTime and attemptTimePerNode determine the duration of a scheduling cycle: 0.7 ms with
	// 10 nodes, 0.8 ms with 28, 2.2 ms with 180 and 3.6 ms with 255.
	attemptTime        = 650 * time.Microsecond
	attemptTimePerNode = 11500 * time.Nanosecond
	// preFilterTime is the duration of a cycle in which a PreFilter plugin rejects the pod before
	// any node is evaluated.
	preFilterTime = 350 * time.Microsecond
)

// nominalTime returns the nominal duration of an attempt that evaluates that many nodes.
func nominalTime(nodes int) time.Duration {
	if nodes == 0 {
		return preFilterTime
	}
	return attemptTime + time.Duration(nodes)*attemptTimePerNode
}
