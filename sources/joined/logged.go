package joined

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// A scheduler's log without all moves is merged with an audit log as additional evidence of the scheduler's work.

// startsTogether limits how far apart an audit log and a scheduler's log may record one start of a scheduler: it may have
// to wait for its predecessor's lease.
const startsTogether = time.Minute

// untilEvent limits how long after an attempt's line in the log its Event is recorded, which is the next thing that the
// scheduler does (v1.37: schedule_one.go, handleSchedulingFailure). A log may end between the two.
const untilEvent = 10 * time.Millisecond

// heldUp limits the same on a machine under load.
const heldUp = 10 * untilEvent

// failures are the recent failed attempts in logs.
type failures struct {
	logs     []*window
	attempts *recent[types.NamespacedName, *sources.FailedAttempt]
}

func newFailures(logs []*window) *failures {
	attempts := newRecent[types.NamespacedName, *sources.FailedAttempt]()
	for _, log := range logs {
		log.seen = append(log.seen, func(ev sources.Event) {
			if f, is := ev.Fact.(*sources.FailedAttempt); is {
				attempts.add(ev.Time, f.Pod, f)
			}
		})
	}
	return &failures{logs, attempts}
}

// record copies to a log's failed attempt what only its Event has: the attempt's number and the pod's version. So the
// facts about the recorder outlast the log.
func (f *failures) record(at time.Time, event *sources.FailedAttempt) {
	for _, log := range f.logs {
		log.readTo(at)
	}
	lines := f.attempts.of[event.Pod]
	for len(lines) > 0 && lines[len(lines)-1].at.After(at) {
		lines = lines[:len(lines)-1]
	}
	if len(lines) > 0 {
		lines[len(lines)-1].value.Recorded = event.Recorded
	}
}

// arrivalOrEnd returns the move of a pod's arrival or departure that a line of -v=3 or 4 shows, or nil. At 5 the log has
// the move itself.
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

// verbosityAt returns the log's verbosity at that time, or -1 if unknown.
func (l *Log) verbosityAt(at time.Time) int {
	level := -1
	for _, s := range l.Spans {
		if !s.Time.After(at) {
			level = s.Fact.(*sources.Logged).Verbosity
		}
	}
	return level
}

// haveAttempts reports whether one of the logs contains the ends of attempts at that time.
func haveAttempts(logs []*Log, at time.Time) bool {
	for _, log := range logs {
		if log.verbosityAt(at) >= sources.AttemptsVerbosity {
			return true
		}
	}
	return false
}

// describeStarts replaces the changes' scheduler starts with the log's description of the same starts.
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

// describes reports whether the log's ith start is also among the changes.
func (l *Log) describes(i int) bool { return i < len(l.described) && l.described[i] }
