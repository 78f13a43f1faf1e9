package joined

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// How the log of a scheduler that does not tell all moves is put together with an audit log: as evidence of what the
// scheduler did, beside that which the audit log has.

// startsTogether is how far apart an API server and a scheduler's log tell of one start of a scheduler: it may have to
// wait for the lease of the one before.
const startsTogether = time.Minute

// untilEvent is how long after its line in the log an attempt's Event says that it failed: the next thing that the
// scheduler does (v1.37: schedule_one.go, handleSchedulingFailure). A log may end between the two.
const untilEvent = 10 * time.Millisecond

// heldUp is how long the scheduler of a machine under load may take from its line about an attempt to the Event.
const heldUp = 10 * untilEvent

// failures are the attempts that logs told lately to have failed.
type failures struct {
	logs []*window
	told *recent[types.NamespacedName, *sources.FailedAttempt]
}

func newFailures(logs []*window) *failures {
	told := newRecent[types.NamespacedName, *sources.FailedAttempt]()
	for _, log := range logs {
		log.seen = append(log.seen, func(ev sources.Event) {
			if f, is := ev.Fact.(*sources.FailedAttempt); is {
				told.add(ev.Time, f.Pod, f)
			}
		})
	}
	return &failures{logs, told}
}

// record gives the line that tells of the attempt of an Event at that time what only the Event tells: as which attempt
// of which version of the pod it was recorded. What is known of the recorder outlasts the log so.
func (f *failures) record(at time.Time, event *sources.FailedAttempt) {
	for _, log := range f.logs {
		log.readTo(at)
	}
	lines := f.told.of[event.Pod]
	for len(lines) > 0 && lines[len(lines)-1].at.After(at) {
		lines = lines[:len(lines)-1]
	}
	if len(lines) > 0 {
		lines[len(lines)-1].value.Recorded = event.Recorded
	}
}

// arrivalOrEnd returns the move that a line of 3 or 4 on a pod that came or went is, or nil. At 5 the log has the move itself.
func (l *Log) arrivalOrEnd(ev sources.Event) *sources.Move {
	d := ev.Fact.(*sources.Delivered)
	if level := l.verbosityAt(ev.Time); d.Node || d.Assigned || level < 0 || level >= sources.MovesVerbosity {
		return nil
	}
	if d.Verb == sources.Deleted {
		return &sources.Move{Pod: d.Name, To: sources.TierDeleted}
	}
	return &sources.Move{Pod: d.Name, To: sources.TierActive, Event: "UnscheduledPodAdd"}
}

// verbosityAt returns the log's verbosity at that time, or -1 if it is not known.
func (l *Log) verbosityAt(at time.Time) int {
	level := -1
	for _, s := range l.Spans {
		if !s.Time.After(at) {
			level = s.Fact.(*sources.Logged).Verbosity
		}
	}
	return level
}

// tellAttempts reports whether one of the logs tells at that time how attempts end.
func tellAttempts(logs []*Log, at time.Time) bool {
	for _, log := range logs {
		if log.verbosityAt(at) >= sources.AttemptsVerbosity {
			return true
		}
	}
	return false
}

// describeStarts takes what the log tells of the schedulers that started for what is to be known of those starts that changes tell of.
// Of the others the log's is the only word.
func (l *Log) describeStarts(starts []sources.Event) {
	l.described = make([]bool, len(l.Starts))
	for i, ev := range l.Starts {
		for _, known := range starts {
			if known.Time.Sub(ev.Time).Abs() < startsTogether {
				*known.Fact.(*sources.SchedulerStarted) = *ev.Fact.(*sources.SchedulerStarted)
				l.described[i] = true
				break
			}
		}
	}
}

// describes reports whether changes tell of the ith of the log's starts.
func (l *Log) describes(i int) bool { return i < len(l.described) && l.described[i] }
