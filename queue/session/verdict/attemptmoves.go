package verdict

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// MovesFromAttempts turns the attempts in a scheduler's log into moves, for a log without moves if no objects are known. A
// pod stays where its last attempt left it until its next attempt, or until a dump of the queue lists it elsewhere: what woke
// it, and when, is unknown. read returns the log's events one by one, in time order, and false at the end.
//
// If another pod's attempt shows that the log continues, but a pod was not retried although the leftover flush must have
// moved it, MovesFromAttempts emits an *Absent for it. after is how long after a failed attempt the flush moves a pod at the
// latest.
//
// An attempt's start is logged with its end, so events are delayed by the longest attempt in summary: see cluster.Summary.
func MovesFromAttempts(summary []sources.Event, after time.Duration, read func() (sources.Event, bool)) func() (sources.Event, bool) {
	m := newAttemptMoves(summary, read)
	m.retryLimit = after
	return m.next
}

// AddMovesOfUnknownPods is MovesFromAttempts for a log with objects, but not of all pods: a seed may lack pods in the log, and
// an audit log may contain one namespace. It returns all events unchanged, and adds the moves of pods without an object.
func AddMovesOfUnknownPods(summary []sources.Event, read func() (sources.Event, bool)) func() (sources.Event, bool) {
	m := newAttemptMoves(summary, read)
	m.objects = map[types.NamespacedName]bool{}
	return m.next
}

func newAttemptMoves(summary []sources.Event, read func() (sources.Event, bool)) *attemptMoves {
	m := &attemptMoves{read: read, last: map[types.NamespacedName]sources.Event{}, deletedInFlight: map[types.NamespacedName]bool{}}
	for _, ev := range summary {
		m.longest = max(m.longest, sources.Took(ev))
	}
	return m
}

// attemptMoves turns a log's attempts into moves.
type attemptMoves struct {
	read    func() (sources.Event, bool)
	longest time.Duration // duration of the longest attempt
	// retryLimit is how long after a failed attempt the leftover flush moves a pod at the latest.
	retryLimit      time.Duration
	readTo          time.Time                              // the time of the last event read
	ended           bool                                   // all events were read
	waiting         []waiting                              // events to return, in time order, then as read
	last            map[types.NamespacedName]sources.Event // each pod's last move
	deletedInFlight map[types.NamespacedName]bool          // pods deleted while in flight
	left            []sources.Event                        // moves of pods that left the queue, in time order
	failed          []sources.Event                        // moves of pods that wait to be retried, in time order

	// objects are the pods with an object, for which no moves are added. Nil if no objects are known.
	objects map[types.NamespacedName]bool
}

// waiting is an event to return at its time.
type waiting struct {
	sources.Event
	unchanged bool // an event that was read, not an added one
}

// Absent reports that a pod is probably gone: the log continues without the attempt that was due.
type Absent struct {
	*sources.Mark // makes it a sources.Fact; it is never written to a file
	Pod           types.NamespacedName
	Since         time.Time // when the attempt was due
}

// maxActive limits how long a retried pod waits in activeQ.
const maxActive = time.Minute

// reportAbsent reports the absent pods when the end of another attempt shows that the log continues.
func (m *attemptMoves) reportAbsent(now time.Time) {
	for len(m.failed) > 0 && now.Sub(m.failed[0].Time) > m.retryLimit+maxActive {
		ev := m.failed[0]
		m.failed[0] = sources.Event{}
		m.failed = m.failed[1:]
		if pod := ev.Fact.(*sources.Move).Pod; m.last[pod] == ev {
			m.add(now, &Absent{Pod: pod, Since: ev.Time.Add(m.retryLimit)})
		}
	}
}

// next returns the next event, and false if there is none.
func (m *attemptMoves) next() (sources.Event, bool) {
	for {
		for len(m.waiting) > 0 && (m.ended || !m.waiting[0].Time.After(m.readTo.Add(-m.longest))) {
			ev := m.waiting[0]
			m.waiting[0] = waiting{}
			m.waiting = m.waiting[1:]
			if repeated := m.isRepeated(ev.Event); !repeated || ev.unchanged {
				return ev.Event, true
			}
		}
		if m.ended {
			return sources.Event{}, false
		}
		if ev, some := m.read(); some {
			m.readTo = ev.Time
			m.onEvent(ev)
		} else {
			m.ended = true
		}
	}
}

// onEvent handles the log's next event.
func (m *attemptMoves) onEvent(ev sources.Event) {
	if m.objects != nil {
		m.noteObject(ev.Fact)
		if m.insert(waiting{ev, true}); !m.isOfUnknownPod(ev.Fact) {
			return
		}
	}
	began := ev.Time.Add(-sources.Took(ev))
	switch f := ev.Fact.(type) {
	case *sources.FailedAttempt:
		to := f.To
		switch {
		case to != "":
		case f.Error:
			to = sources.TierBackoff
		default:
			to = sources.TierUnschedulable
		}
		m.add(began, &sources.Move{Pod: f.Pod, To: sources.TierInFlight})
		m.add(ev.Time, &sources.Move{Pod: f.Pod, To: to, Event: queue.ScheduleAttemptFailure, Plugins: f.Plugins, Message: f.Message})
	case *sources.Bound:
		m.add(began, &sources.Move{Pod: f.Pod, To: sources.TierInFlight})
		m.add(ev.Time, &sources.Move{Pod: f.Pod, To: sources.TierScheduled, Node: f.Node})
	case *sources.Dumped:
		m.add(ev.Time, &sources.Move{Pod: f.Pod, To: f.In})
	default:
		m.add(ev.Time, f)
	}
}

// noteObject updates the set of pods with an object.
func (m *attemptMoves) noteObject(f sources.Fact) {
	c, is := f.(*sources.ObjectChange)
	if !is {
		return
	}
	pod, is := c.Object.(*v1.Pod)
	if !is {
		return
	}
	if key := (types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}); c.Verb == sources.Deleted {
		delete(m.objects, key)
	} else {
		m.objects[key] = true
	}
}

// isOfUnknownPod reports whether f is an attempt of a pod without an object, or a dump's line about such a pod. A dump does
// not count for a pod without an attempt, which may have been deleted while the dump was written.
func (m *attemptMoves) isOfUnknownPod(f sources.Fact) bool {
	if f, is := f.(*sources.Dumped); is {
		_, tried := m.last[f.Pod]
		return tried && !m.objects[f.Pod]
	}
	return sources.LacksObject(f)
}

// add adds an event to return at that time.
func (m *attemptMoves) add(at time.Time, f sources.Fact) {
	m.insert(waiting{Event: sources.Event{Time: at, Fact: f}})
}

func (m *attemptMoves) insert(w waiting) {
	m.waiting = append(m.waiting, w)
	for i := len(m.waiting) - 1; i > 0 && m.waiting[i].Time.Before(m.waiting[i-1].Time); i-- {
		m.waiting[i], m.waiting[i-1] = m.waiting[i-1], m.waiting[i]
	}
}

// leftRetention is how much longer than the longest attempt a pod that left is kept.
const leftRetention = time.Minute

// isRepeated reports whether ev moves a pod to the tier that it is in, as a dump does, and else records the move.
func (m *attemptMoves) isRepeated(ev sources.Event) bool {
	for len(m.left) > 0 && ev.Time.Sub(m.left[0].Time) > m.longest+leftRetention {
		if pod := m.left[0].Fact.(*sources.Move).Pod; m.last[pod] == m.left[0] {
			delete(m.last, pod)
		}
		m.left[0] = sources.Event{}
		m.left = m.left[1:]
	}
	move, is := ev.Fact.(*sources.Move)
	if !is {
		return false
	}
	last, known := m.last[move.Pod]
	if known && last.Fact.(*sources.Move).To == move.To {
		return true
	}
	if move.To == sources.TierDeleted && m.objects == nil && move.Event == "" {
		switch {
		case !known, last.Fact.(*sources.Move).To == sources.TierScheduled: // the line is logged for bound pods too
			return true
		case last.Fact.(*sources.Move).To == sources.TierInFlight: // its attempt continues
			m.deletedInFlight[move.Pod] = true
			return true
		}
	}
	if m.deletedInFlight[move.Pod] && move.To != sources.TierInFlight {
		delete(m.deletedInFlight, move.Pod)
		if move.To != sources.TierScheduled {
			m.add(ev.Time, &sources.Move{Pod: move.Pod, To: sources.TierDeleted})
		}
	}
	m.last[move.Pod] = ev
	if move.To == sources.TierUnschedulable || move.To == sources.TierScheduled {
		// Errors are logged at any verbosity, so they do not show that attempts are still logged.
		m.reportAbsent(ev.Time)
	}
	if move.To == sources.TierUnschedulable {
		m.failed = append(m.failed, ev)
	}
	if move.To == sources.TierScheduled || move.To == sources.TierDeleted {
		m.left = append(m.left, ev)
	}
	return false
}
