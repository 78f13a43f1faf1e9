package audit

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// namedEvent returns the facts in the name of kube-scheduler's Event about a pod, for a log that has only
// the name: the pod, and the nanosecond at which it was made (k8s.io/client-go v0.37, tools/events/event_recorder.go,
// "NAME.HEX"). It may be of a failed attempt, of a binding or of a preemption.
func (e *event) namedEvent() (sources.Event, bool) {
	if e.resource != "events" || e.group != "events.k8s.io" || e.responseObject != nil || string(e.verb) != "create" || !e.byScheduler() || !e.succeeded() {
		return sources.Event{}, false
	}
	dot := strings.LastIndexByte(e.name, '.')
	if dot <= 0 {
		return sources.Event{}, false
	}
	nanos, err := strconv.ParseInt(e.name[dot+1:], 16, 64)
	at := time.Unix(0, nanos).UTC()
	written := parse(string(e.stamp))
	if err != nil || at.After(written.Add(time.Second)) || written.Sub(at) > latestEvent || sources.CheckName(e.name[:dot]) != nil || sources.CheckName(e.namespace) != nil {
		return sources.Event{}, false
	}
	return sources.Event{Time: at, Fact: &sources.FailedAttempt{Pod: types.NamespacedName{Namespace: e.namespace, Name: e.name[:dot]}}}, true
}

// life is when a pod with a name was created, bound and deleted. The latter two are zero if they were not seen.
type life struct {
	uid               types.UID
	came, bound, gone time.Time
}

// boundSoon limits how far from a pod's binding the Event of the binding may be.
const boundSoon = 2 * time.Second

// comesSoon limits how long before a pod's creation is logged its Event may be.
const comesSoon = time.Second

// namer finds out which Events with only a name in the log are of failed attempts.
type namer struct {
	waiting sources.Waiting
	last    time.Time // of the Events that waited
	lives   map[types.NamespacedName][]life
	gone    []types.NamespacedName // pods that were deleted, in the order of time
}

func newNamer() *namer {
	return &namer{lives: map[types.NamespacedName][]life{}}
}

// add adds an Event.
func (n *namer) add(ev sources.Event) {
	if n.waiting.Add(0, ev, 0); ev.Time.After(n.last) {
		n.last = ev.Time
	}
}

// note records a change of a pod. Changes must be in the order of time.
func (n *namer) note(ev sources.Event) {
	c, ok := ev.Fact.(*sources.ObjectChange)
	if !ok {
		return
	}
	pod, ok := c.Object.(*corev1.Pod)
	if !ok {
		return
	}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	all := n.lives[key]
	if len(all) == 0 || all[len(all)-1].uid != pod.UID {
		all = append(all, life{uid: pod.UID, came: ev.Time})
	}
	l := &all[len(all)-1]
	if pod.Spec.NodeName != "" && l.bound.IsZero() {
		l.bound = ev.Time
	}
	if c.Verb == sources.Deleted {
		l.gone = ev.Time
		n.gone = append(n.gone, key)
	}
	n.lives[key] = all
}

// upTo calls failed with the Events of failed attempts from before boundSoon ago. An Event of a pod that was bound then, or
// bound before as a victim was, is not of a failed attempt.
func (n *namer) upTo(now time.Time, failed func(sources.Event)) {
	for {
		first, some := n.waiting.First()
		if !some || now.Sub(first.Time) <= boundSoon {
			break
		}
		n.waiting.Take()
		if uid, is := n.fails(first); is {
			f := *first.Fact.(*sources.FailedAttempt)
			f.UID = uid
			failed(sources.Event{Time: first.Time, Fact: &f})
		}
	}
	for len(n.gone) > 0 {
		key := n.gone[0]
		all := n.lives[key]
		if len(all) > 0 && now.Sub(all[0].gone) <= 2*boundSoon {
			break
		}
		n.gone = n.gone[1:]
		if all = all[min(1, len(all)):]; len(all) == 0 {
			delete(n.lives, key)
		} else {
			n.lives[key] = all
		}
	}
}

// fails reports whether an Event is of a failed attempt, and returns its pod.
func (n *namer) fails(ev sources.Event) (types.UID, bool) {
	for _, l := range n.lives[ev.Fact.(*sources.FailedAttempt).Pod] {
		if ev.Time.Before(l.came.Add(-comesSoon)) || !l.gone.IsZero() && ev.Time.After(l.gone) {
			continue
		}
		return l.uid, l.bound.IsZero() || l.bound.Sub(ev.Time) > boundSoon
	}
	return "", false
}
