package explain

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/flush"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
)

// Moment is the queue at one moment, with all that says why a pod is where it is and when it moves next. It is
// never modified.
type Moment struct {
	Now time.Time
	// Board is every pod in its tier.
	Board *board.Board
	// Options are the settings that the local queue runs with.
	Options queue.Options
	// Stages are those of the pods in flight, in a what-if with a local scheduler.
	Stages []board.Stage
	// Ticks are the queue's flushes, and Hints what plugins registered for.
	Ticks flush.Ticks
	Hints Hints
	// Silent is that no scheduler is heard to work. Nil if one is, and in a what-if.
	Silent *timeline.Silence
	// Zone is the one in which sentences tell times of day.
	Zone words.Zone
}

// overdue adds to a sentence that what it foretells should have happened by now.
func (m *Moment) overdue(at time.Time) string {
	if m.Now.Sub(at) > time.Second {
		return " That is past, and was not seen."
	}
	return ""
}

// backoffTick returns the flush that takes p out of backoffQ: the first one in a later window than the
// expiry's, or without windows the first one after it.
func (m *Moment) backoffTick(p *board.Pod) time.Time {
	return flush.TickAfter(m.Ticks.Backoff, queue.BackoffFlushInterval, p.BackoffExpiry)
}

// Hints tells which cluster events a plugin registered for. It is never modified.
type Hints struct {
	events  []string            // all labels, in the order of injectable.EventLabels
	plugins map[string][]string // labels by in-tree plugin; nil if the plugins are not known
	own     map[string][]string // labels of updates of the waiting pod itself, by in-tree plugin
}
