package verdict

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// AsMoves turns the attempts in a scheduler's log into moves, where the log has no moves and no objects are known. A pod
// stays where its last attempt left it until the next one, or until a dump of the queue lists it elsewhere: what woke it,
// and when, is unknown. more returns the log's events one by one.
//
// If another pod's attempt shows that the log goes on, but a pod lacks the retry that the leftover flush must have caused,
// AsMoves emits an *Absent for it. after is the latest time after an attempt at which that flush has retried a pod.
//
// summary holds events that show how long attempts take. An attempt's beginning is logged with its end, so AsMoves delays
// events by the longest attempt.
func AsMoves(summary []sources.Event, after time.Duration, more func() (sources.Event, bool)) func() (sources.Event, bool) {
	m := newAsMoves(summary, more)
	m.retried = after
	return m.next
}

// WithMovesOfUnknown is AsMoves where objects are known, but not of all pods: a seed may lack pods that the log names, and an audit log
// may be of one namespace. It adds the moves of pods without an object, and passes all events on.
func WithMovesOfUnknown(tells []sources.Event, more func() (sources.Event, bool)) func() (sources.Event, bool) {
	m := newAsMoves(tells, more)
	m.objects = map[types.NamespacedName]types.UID{}
	return m.next
}

func newAsMoves(tells []sources.Event, more func() (sources.Event, bool)) *asMoves {
	m := &asMoves{more: more, last: map[types.NamespacedName]sources.Event{}, deleted: map[types.NamespacedName]bool{}}
	for _, ev := range tells {
		m.longest = max(m.longest, sources.Took(ev))
	}
	return m
}

// asMoves turns the attempts of a log into moves.
type asMoves struct {
	more    func() (sources.Event, bool)
	longest time.Duration                          // of its attempts
	retried time.Duration                          // how long after its last attempt a pod is retried at the latest
	now     time.Time                              // up to which it is read
	ended   bool                                   // it is read to its end
	waiting []waiting                              // events to emit, by time, then in the order of arrival
	last    map[types.NamespacedName]sources.Event // the move that put each pod where it is
	deleted map[types.NamespacedName]bool          // pods that were deleted while in flight
	left    []sources.Event                        // those that took pods out of the queue, in the order of time
	failed  []sources.Event                        // those after which pods wait to be retried, in the order of time

	objects map[types.NamespacedName]types.UID // pods with an object, of which no move is made. Nil: no objects are known
}

// waiting is an event that waits for its turn.
type waiting struct {
	sources.Event
	passed bool // it is passed on as it came
}

// Absent reports that a pod is probably gone: the log goes on without the attempt that was due.
type Absent struct {
	*sources.Mark // for it has no words in a file
	Pod           types.NamespacedName
	Since         time.Time
}

// inLine limits how long a retried pod may wait in activeQ.
const inLine = time.Minute

// seekAbsent reports the pods that are absent when the end of another attempt shows that the log goes on.
func (m *asMoves) seekAbsent(now time.Time) {
	for len(m.failed) > 0 && now.Sub(m.failed[0].Time) > m.retried+inLine {
		ev := m.failed[0]
		m.failed[0] = sources.Event{}
		m.failed = m.failed[1:]
		if pod := ev.Fact.(*sources.Move).Pod; m.last[pod] == ev {
			m.add(now, &Absent{Pod: pod, Since: ev.Time.Add(m.retried)})
		}
	}
}

// next returns the next event, and false if there is none.
func (m *asMoves) next() (sources.Event, bool) {
	for {
		for len(m.waiting) > 0 && (m.ended || !m.waiting[0].Time.After(m.now.Add(-m.longest))) {
			ev := m.waiting[0]
			m.waiting[0] = waiting{}
			m.waiting = m.waiting[1:]
			if repeated := m.repeats(ev.Event); !repeated || ev.passed {
				return ev.Event, true
			}
		}
		if m.ended {
			return sources.Event{}, false
		}
		if ev, some := m.more(); some {
			m.now = ev.Time
			m.takeIn(ev)
		} else {
			m.ended = true
		}
	}
}

// takeIn takes in what the log tells next.
func (m *asMoves) takeIn(ev sources.Event) {
	if m.objects != nil {
		m.note(ev.Fact)
		if m.insert(waiting{ev, true}); !m.isOfUnknown(ev.Fact) {
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

// note takes in which pods have an object.
func (m *asMoves) note(f sources.Fact) {
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
		m.objects[key] = pod.UID
	}
}

// isOfUnknown reports whether f is an attempt of a pod without an object, or a dump lists such a pod. A dump says nothing new of a pod that
// was never tried: it may have been deleted while the dump was written.
func (m *asMoves) isOfUnknown(f sources.Fact) bool {
	if f, is := f.(*sources.Dumped); is {
		_, known := m.objects[f.Pod]
		_, tried := m.last[f.Pod]
		return tried && !known
	}
	return sources.LacksObject(f)
}

// add adds a fact to emit at that time.
func (m *asMoves) add(at time.Time, f sources.Fact) {
	m.insert(waiting{Event: sources.Event{Time: at, Fact: f}})
}

func (m *asMoves) insert(w waiting) {
	m.waiting = append(m.waiting, w)
	for i := len(m.waiting) - 1; i > 0 && m.waiting[i].Time.Before(m.waiting[i-1].Time); i-- {
		m.waiting[i], m.waiting[i-1] = m.waiting[i-1], m.waiting[i]
	}
}

// keepLeft is how much longer than the longest attempt a pod is remembered after it left.
const keepLeft = time.Minute

// repeats reports whether ev is a move that puts a pod where it is, such as one of a dump.
func (m *asMoves) repeats(ev sources.Event) bool {
	for len(m.left) > 0 && ev.Time.Sub(m.left[0].Time) > m.longest+keepLeft {
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
		case !known, last.Fact.(*sources.Move).To == sources.TierScheduled: // the scheduler speaks of a pod that it bound, too
			return true
		case last.Fact.(*sources.Move).To == sources.TierInFlight: // its attempt goes on
			m.deleted[move.Pod] = true
			return true
		}
	}
	if m.deleted[move.Pod] && move.To != sources.TierInFlight {
		delete(m.deleted, move.Pod)
		if move.To != sources.TierScheduled {
			m.add(ev.Time, &sources.Move{Pod: move.Pod, To: sources.TierDeleted})
		}
	}
	m.last[move.Pod] = ev
	if move.To == sources.TierUnschedulable || move.To == sources.TierScheduled { // of errors a log tells at any verbosity
		m.seekAbsent(ev.Time)
	}
	if move.To == sources.TierUnschedulable {
		m.failed = append(m.failed, ev)
	}
	if move.To == sources.TierScheduled || move.To == sources.TierDeleted {
		m.left = append(m.left, ev)
	}
	return false
}
