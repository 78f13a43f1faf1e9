package explain

import (
	"math"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
)

// Moment is the queue at one moment, with everything that determines why a pod is where it is and when
// it moves next. It is never modified.
type Moment struct {
	Now time.Time
	// Board is every pod in its tier.
	Board *board.Board
	// Options are the settings of the local queue.
	Options queue.Options
	// Stages are those of the pods in flight in a what-if with a local scheduler.
	Stages []board.Stage
	// Ticks are the times of the queue's flushes, and Hints the events that plugins listen for.
	Ticks queue.Ticks
	Hints Hints
	// Silent is set while no scheduler activity is observed. Nil otherwise, and in a what-if.
	Silent *timeline.Silence
	// WhatIf is true in a what-if, in which the real scheduler does nothing.
	WhatIf bool
	// Assumed says which release's rules are assumed, as a sentence. Empty if those of the scheduler are known.
	Assumed string
	// Zone is the time zone of the sentences.
	Zone words.Zone
}

// SchedulerEnded returns when the scheduler shut down, according to its log. It is nil if one works, or if that
// is unknown.
func (m *Moment) SchedulerEnded() *time.Time {
	if m.Silent == nil || !m.Silent.Ended {
		return nil
	}
	at := m.Silent.Since.UTC()
	return &at
}

// overdue returns a remark for a prediction whose time has passed.
func (m *Moment) overdue(at time.Time) string {
	if m.Now.Sub(at) > time.Second {
		return " That time has passed, but no move was recorded."
	}
	return ""
}

// backoffTick returns the time of the flush that moves p out of backoffQ: the first in a later window
// than the expiry, or without windows the first after it. If exact is false, that is the latest time.
func (m *Moment) backoffTick(p *board.Pod) (at time.Time, exact bool) {
	expiry, exact := m.expiry(p)
	return queue.TickAfter(m.Ticks.Backoff, queue.BackoffFlushInterval, expiry), exact
}

// expiry returns when p's backoff ends. If exact is false, that is the latest time: p's last attempt may have
// been later than the last that is known, and its backoff longer after attempts that are not.
func (m *Moment) expiry(p *board.Pod) (at time.Time, exact bool) {
	if !p.AttemptsAtLeast || p.BackoffExpiry.IsZero() {
		return p.BackoffExpiry, true
	}
	longest := m.Options.PodMaxBackoff
	if p.Group != "" {
		longest = time.Duration(float64(longest) * math.Sqrt(float64(m.Board.GroupSize(p))))
	}
	latest := lastFailed(p).Add(longest)
	if !latest.After(p.BackoffExpiry) || p.FailedBy.IsZero() && m.Options.Backoff(failures(p)) >= longest {
		return p.BackoffExpiry, true
	}
	return latest, false
}

// lastFailed returns when p's last attempt failed at the latest.
func lastFailed(p *board.Pod) time.Time {
	if p.FailedBy.After(p.Timestamp) {
		return p.FailedBy
	}
	return p.Timestamp
}

// Hints are the cluster events that each plugin listens for. It is never modified.
type Hints struct {
	events  []string            // all labels, in the order of queue.InjectableLabels
	plugins map[string][]string // labels by in-tree plugin; nil if the plugins are unknown
	own     map[string][]string // labels of updates of the waiting pod itself, by in-tree plugin
}
