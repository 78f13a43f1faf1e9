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
	changes = slices.DeleteFunc(changes, func(e sources.Event) bool {
		return isFact[*sources.FailedAttempt](e) && (told(e.Time) || told(e.Time.Add(-untilEvent)))
	})
	for _, log := range logs {
		log.Events = slices.DeleteFunc(log.Events, func(e sources.Event) bool {
			s, is := e.Fact.(*sources.SchedulerStarted)
			return is && describesStart(changes, e.Time, s)
		})
	}
	return changes
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
