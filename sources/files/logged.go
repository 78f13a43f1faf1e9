package files

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// How the log of a scheduler that does not tell all moves is put together with an audit log: as evidence of what the
// scheduler did, beside that which the audit log has.

// tellsAll reports whether a scheduler's log tells all moves, from its first line to its last.
func tellsAll(part *sources.Part) bool {
	return !slices.ContainsFunc(part.Events, isFact[*sources.Logged])
}

func isFact[F sources.Fact](e sources.Event) bool {
	_, is := e.Fact.(F)
	return is
}

// markTold marks the logs among parts that tell all moves, where others do not.
func markTold(parts []*sources.Part) {
	for _, p := range parts {
		if tellsAll(p) && slices.ContainsFunc(p.Events, isFact[*sources.Move]) {
			p.Events = slices.Insert(p.Events, 0, sources.Event{Time: p.First, Fact: &sources.Logged{Verbosity: sources.MovesVerbosity}})
			p.Events = append(p.Events, sources.Event{Time: p.Last, Fact: &sources.Logged{Verbosity: -1}})
		}
	}
}

// startsTogether is how far apart an API server and a scheduler's log tell of one start of a scheduler: it may have to
// wait for the lease of the one before.
const startsTogether = time.Minute

// untilEvent is how long after its line in the log an attempt's Event says that it failed: the next thing that the
// scheduler does (v1.37: schedule_one.go, handleSchedulingFailure). A log may end between the two.
const untilEvent = 10 * time.Millisecond

// joinEvidence returns the events of audit logs without what the logs of their schedulers tell more exactly, and has the
// logs' events tell nothing twice.
func joinEvidence(changes []sources.Event, logs []*sources.Part) []sources.Event {
	told := func(at time.Time) bool {
		return slices.ContainsFunc(logs, func(p *sources.Part) bool { return loggedAt(p.Events, at) })
	}
	lines := failuresByPod(logs)
	changes = slices.DeleteFunc(changes, func(e sources.Event) bool {
		f, is := e.Fact.(*sources.FailedAttempt)
		if !is || !told(e.Time) && !told(e.Time.Add(-untilEvent)) {
			return false
		}
		lines.takeRecord(e.Time, f)
		return true
	})
	for _, log := range logs {
		log.Events = slices.DeleteFunc(log.Events, func(e sources.Event) bool {
			s, is := e.Fact.(*sources.SchedulerStarted)
			return is && describesStart(changes, e.Time, s)
		})
	}
	return changes
}

// failures are the failed attempts of each pod that logs tell of, in the order of time.
type failures map[types.NamespacedName][]sources.Event

func failuresByPod(logs []*sources.Part) failures {
	lines := failures{}
	for _, log := range logs {
		for _, e := range log.Events {
			if f, is := e.Fact.(*sources.FailedAttempt); is {
				lines[f.Pod] = append(lines[f.Pod], e)
			}
		}
	}
	for _, of := range lines {
		slices.SortStableFunc(of, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	}
	return lines
}

// heldUp is how long the scheduler of a machine under load may take from its line about an attempt to the Event.
const heldUp = 10 * untilEvent

// takeRecord gives the line that tells of the attempt of an Event at that time what only the Event tells: as which attempt
// of which version of the pod it was recorded. What is known of the recorder outlasts the log so.
func (l failures) takeRecord(at time.Time, event *sources.FailedAttempt) {
	for _, e := range slices.Backward(l[event.Pod]) {
		switch line := e.Fact.(*sources.FailedAttempt); {
		case e.Time.After(at):
		case at.Sub(e.Time) > heldUp:
			return
		default:
			line.Recorded = event.Recorded
			return
		}
	}
}

// loggedAt reports whether a log with these events tells at that time how attempts end.
func loggedAt(events []sources.Event, at time.Time) bool {
	level := -1
	for _, e := range events {
		if l, is := e.Fact.(*sources.Logged); is && !e.Time.After(at) {
			level = l.Verbosity
		}
	}
	return level >= sources.AttemptsVerbosity
}

// describesStart takes what a log tells of the scheduler that started at that time for what is to be known of the start
// that an audit log tells of. It reports false if none is near: then the log's is the only word of it.
func describesStart(changes []sources.Event, at time.Time, s *sources.SchedulerStarted) bool {
	for _, e := range changes {
		if known, is := e.Fact.(*sources.SchedulerStarted); is && e.Time.Sub(at).Abs() < startsTogether {
			*known = *s
			return true
		}
	}
	return false
}

// nameUIDs gives what a scheduler's log tells of pods, by name, their UIDs. A log may be some milliseconds ahead of the
// audit log.
func nameUIDs(events []sources.Event) {
	uids := map[types.NamespacedName]types.UID{}
	waiting := map[types.NamespacedName][]sources.Event{}
	for _, e := range events {
		switch f := e.Fact.(type) {
		case *sources.ObjectChange:
			pod, ok := f.Object.(*corev1.Pod)
			if !ok || pod.UID == "" {
				continue
			}
			key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
			uids[key] = pod.UID
			for _, early := range waiting[key] {
				if e.Time.Sub(early.Time) < maxAhead {
					setUID(early.Fact, pod.UID)
				}
			}
			delete(waiting, key)
		case *sources.FailedAttempt:
			if f.UID == "" {
				if f.UID = uids[f.Pod]; f.UID == "" {
					waiting[f.Pod] = append(waiting[f.Pod], e)
				}
			}
		case *sources.Bound:
			if f.UID == "" {
				if f.UID = uids[f.Pod]; f.UID == "" {
					waiting[f.Pod] = append(waiting[f.Pod], e)
				}
			}
		}
	}
}

func setUID(f sources.Fact, uid types.UID) {
	switch f := f.(type) {
	case *sources.FailedAttempt:
		f.UID = uid
	case *sources.Bound:
		f.UID = uid
	}
}
