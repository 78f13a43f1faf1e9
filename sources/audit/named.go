package audit

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// namedEvent returns what the name of an Event tells that kube-scheduler wrote about a pod, where the log holds nothing
// else of it: the pod, and the nanosecond at which it was made (k8s.io/client-go v0.37, tools/events/event_recorder.go,
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
	if err != nil || at.After(written.Add(time.Second)) || written.Sub(at) > time.Hour || sources.CheckName(e.name[:dot]) != nil || sources.CheckName(e.namespace) != nil {
		return sources.Event{}, false
	}
	return sources.Event{Time: at, Fact: &sources.FailedAttempt{Pod: types.NamespacedName{Namespace: e.namespace, Name: e.name[:dot]}}}, true
}

// life is when a pod of some name came, was bound and went. The latter two are zero if they were not seen.
type life struct {
	uid               types.UID
	came, bound, gone time.Time
}

// noteLife takes in what a change tells of a pod's life.
func noteLife(lives map[types.NamespacedName][]life, ev sources.Event) {
	c, ok := ev.Fact.(*sources.ObjectChange)
	if !ok {
		return
	}
	pod, ok := c.Object.(*corev1.Pod)
	if !ok {
		return
	}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	all := lives[key]
	if len(all) == 0 || all[len(all)-1].uid != pod.UID {
		all = append(all, life{uid: pod.UID, came: ev.Time})
	}
	l := &all[len(all)-1]
	if pod.Spec.NodeName != "" && l.bound.IsZero() {
		l.bound = ev.Time
	}
	if c.Verb == sources.Deleted {
		l.gone = ev.Time
	}
	lives[key] = all
}

// boundSoon is how near to a pod's binding an Event of it is that of the binding.
const boundSoon = 2 * time.Second

// failuresOf returns those of the named events that are of failed attempts: not of a pod that was bound then, or that was
// bound before, as a victim was. changes are in the order of time.
func failuresOf(named, changes []sources.Event) []sources.Event {
	if len(named) == 0 {
		return nil
	}
	lives := map[types.NamespacedName][]life{}
	for _, ev := range changes {
		noteLife(lives, ev)
	}
	var failed []sources.Event
	for _, ev := range named {
		f := ev.Fact.(*sources.FailedAttempt)
		for _, l := range lives[f.Pod] {
			if ev.Time.Before(l.came.Add(-time.Second)) || !l.gone.IsZero() && ev.Time.After(l.gone) {
				continue
			}
			if l.bound.IsZero() || l.bound.Sub(ev.Time) > boundSoon {
				f.UID = l.uid
				failed = append(failed, ev)
			}
			break
		}
	}
	return failed
}
