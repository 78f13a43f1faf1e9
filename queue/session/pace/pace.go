// Package pace learns how fast a real scheduler is from what is seen of its work. It is pure, and imports nothing of schedq.
package pace

import (
	"slices"
	"time"
)

const (
	// recentOf is of how many values means are, meanStart how many of them at first are what it began with. Chosen: a few
	// seconds of a busy scheduler, and enough that one odd moment turns nothing. usualOf is ten times as many.
	recentOf, usualOf, meanStart = 100, 1000, 10
	// fresh is for how long how fast it was seen to be is how fast it is. Chosen: some times as long as Events come late while all is well.
	fresh = 10 * time.Second
	// longestAttempt is how many times as long as usual a time is that is not one attempt's: the loop had a pause. Chosen:
	// one in a thousand of the attempts that were measured took longer.
	longestAttempt = 20
)

// Pace is how fast the real scheduler is, learned while it is seen at work: another machine, another load and another
// verbosity of its log make an attempt take a fifth of the time that the model's rules have, or four times of it. That decides
// how often a crowd of pods is tried while events wake them again and again.
//
// The loop goes from one pod to the next without a pause. So where two failures are seen and nothing of the scheduler
// between them, the time between them is one attempt's; where one status patch is answered between them, the time from
// that answer on is an attempt's and the way from the API server to the loop. Pauses of the loop, and attempts that do not
// show, make some of these times longer. So means are taken, for it is them that say how much fits into a second, but
// without the extremes. Where nothing is seen of it for a while, as when its Events wait for the rate limit of their client for half a
// minute, or where most of them are not seen, the few that were seen last say less than the many before.
//
// How many times as long attempts of pods of one kind take as plain ones is learned with it: it depends on the cluster.
type Pace struct {
	// attempts are how many times as long as nominally attempts took lately, usual the same of more of them, and delays the seconds from a
	// patch's answer to the beginning of the next attempt.
	attempts, usual, delays recentMean
	// factors are how many times as long as a plain pod's an attempt took lately, by kind. A plain pod's stays one.
	factors [kinds]recentMean

	now     time.Time
	nominal time.Duration // what the failed attempt that was seen last took nominally
	kind    Kind          // of its pod
	failed  time.Time     // the end of the failed attempt that was seen last
	patches int           // the status patches that were answered since
	patched time.Time     // when the last of them was
	other   bool          // the loop was seen to do something else since
	few     bool          // that failed attempt was one of a few of those that were made
}

// New returns a pace of which nothing was seen: attempts take what they do nominally, and the loop goes on that long after the answer
// to a patch.
func New(answerDelay time.Duration) *Pace {
	p := &Pace{attempts: startAt(1, recentOf), usual: startAt(1, usualOf), delays: startAt(answerDelay.Seconds(), recentOf)}
	for kind := range p.factors {
		p.factors[kind] = startAt(1, recentOf)
	}
	return p
}

// At has what is asked from now on be asked of that moment.
func (p *Pace) At(now time.Time) { p.now = now }

// Failure is an attempt that was seen to fail.
type Failure struct {
	At      time.Time     // its end
	Nominal time.Duration // what such an attempt of a plain pod takes nominally
	Kind    Kind          // of its pod
	// OneOfFew is true if most of those that come next are not seen: then the time until one is seen is not that attempt's.
	OneOfFew bool
}

// SawFailure takes in that f was seen.
func (p *Pace) SawFailure(f Failure) {
	longest := longestAttempt * p.Attempt(f.Nominal, f.Kind)
	if took := f.At.Sub(p.failed); !p.other && p.patches == 0 && took > 0 && took < longest {
		times := float64(took) / float64(f.Nominal)
		factor := p.factors[f.Kind].mean()
		if f.Kind != Plain {
			p.factors[f.Kind].add(times / p.usual.mean())
		}
		p.attempts.add(times / factor)
		p.usual.add(times / factor)
	}
	if took := f.At.Sub(p.patched); !p.other && p.patches == 1 && took > 0 && took < longest {
		p.delays.add(max(0, took-p.Attempt(f.Nominal, f.Kind)).Seconds())
	}
	p.nominal, p.kind, p.failed, p.patches, p.other, p.few = f.Nominal, f.Kind, f.At, 0, f.OneOfFew, f.OneOfFew
}

// SawPatch notes that a status patch was answered at that moment.
func (p *Pace) SawPatch(at time.Time) { p.patches, p.patched = p.patches+1, at }

// SawOther notes that the loop was seen to do something that is no failed attempt: to bind a pod.
func (p *Pace) SawOther() { p.other = true }

// Attempt returns how long an attempt of a pod of that kind takes that takes nominal by the model's rules.
func (p *Pace) Attempt(nominal time.Duration, kind Kind) time.Duration {
	times := &p.attempts
	if p.few || p.now.Sub(p.failed) > fresh {
		times = &p.usual
	}
	return time.Duration(float64(nominal) * times.mean() * p.factors[kind].mean())
}

// Last returns how long an attempt takes now that is like the failed one that was seen last. Zero if none was.
func (p *Pace) Last() time.Duration { return p.Attempt(p.nominal, p.kind) }

// Longest returns how long the loop takes at the most from one attempt to the next, unless it had nothing to do.
func (p *Pace) Longest() time.Duration { return longestAttempt * p.Last() }

// AnswerDelay returns how long after the answer to a patch the loop goes on.
func (p *Pace) AnswerDelay() time.Duration {
	return time.Duration(p.delays.mean() * float64(time.Second))
}

// recentMean is the mean of the latest values, without a tenth of them at either end.
type recentMean struct {
	values   []float64 // as they came, a ring once there are of
	next, of int
	known    float64 // the mean, as it was when it was asked for last
	came     bool    // values came since
}

// startAt returns the mean of so many values, the first of which have all been this one.
func startAt(value float64, of int) recentMean {
	return recentMean{values: slices.Repeat([]float64{value}, meanStart), known: value, of: of}
}

func (m *recentMean) add(value float64) {
	if m.came = true; len(m.values) < m.of {
		m.values = append(m.values, value)
		return
	}
	m.values[m.next] = value
	m.next = (m.next + 1) % m.of
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
