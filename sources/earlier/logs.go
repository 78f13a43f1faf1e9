package earlier

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Attempts is what schedulers' logs contain about the objects of a seed, where no audit log has their changes: a must-gather, for
// example, has the pods as they were at the end of its logs, and most of them were bound in the meantime.
type Attempts struct {
	pods       map[types.NamespacedName]*attempts
	nodes      map[string]bool // of the seed
	bound      bool            // a pod was bound
	boundKnown bool            // to a node of the seed
}

// attempts are those of one pod.
type attempts struct{ last, bound time.Time }

// NewAttempts returns empty Attempts.
func NewAttempts(seed []runtime.Object) *Attempts {
	a := &Attempts{pods: map[types.NamespacedName]*attempts{}, nodes: map[string]bool{}}
	for _, obj := range seed {
		switch id := sources.NameOf(obj); id.Kind {
		case "Pod":
			a.pods[id.NamespacedName] = &attempts{}
		case "Node":
			a.nodes[id.Name] = true
		}
	}
	return a
}

// Note records an event of a log. Events may be in any order.
func (a *Attempts) Note(ev sources.Event) {
	pod, names := sources.LoggedPod(ev.Fact)
	if !names {
		return
	}
	node := ""
	switch f := ev.Fact.(type) {
	case *sources.Bound:
		node = f.Node
	case *sources.Move:
		switch f.To {
		case sources.TierScheduled:
			node = f.Node
		case sources.TierDeleted: // also logged of a pod that was bound before
			return
		}
	}
	a.bound = a.bound || node != ""
	a.boundKnown = a.boundKnown || a.nodes[node]
	known := a.pods[pod]
	if known == nil {
		return
	}
	if ev.Time.After(known.last) {
		known.last = ev.Time
	}
	if node != "" && ev.Time.After(known.bound) {
		known.bound = ev.Time
	}
}

// Beside returns the events of a seed without an audit log, for logs that begin and end then. Objects created or bound during
// the logs are added or assigned at that time, and those created later are left out.
func (s Seed) Beside(log *Attempts, begin, end time.Time) (events []sources.Event, f Fit) {
	if f.Foreign = len(log.nodes) > 0 && log.bound && !log.boundKnown; f.Foreign {
		return nil, f
	}
	there := map[sources.ObjectName]runtime.Object{}
	var later []sources.Event
	for _, obj := range s.Objects {
		at := begin
		if came := obj.(metav1.Object).GetCreationTimestamp().Time; came.After(end) {
			f.Later++
			continue
		} else if came.After(begin) {
			at = came.UTC()
		}
		was, assigned := unassigned(obj, log, at, end)
		if ev := (sources.Event{Time: at, Fact: &sources.ObjectChange{Verb: sources.Added, Object: was}}); at.Equal(begin) {
			there[sources.NameOf(obj)] = was
			events = append(events, ev)
		} else {
			later = append(later, ev)
		}
		if !assigned.IsZero() {
			later = append(later, sources.Event{Time: assigned, Fact: &sources.ObjectChange{Verb: sources.Updated, Object: obj}})
		}
		f.Used++
	}
	slices.SortStableFunc(later, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return slices.Concat(events, s.Attach(begin, there), later), f
}

// unassigned returns obj as it was at that time, and if it is a pod that was bound later, when. assigned is zero if a log
// has the binding.
func unassigned(obj runtime.Object, log *Attempts, at, end time.Time) (was runtime.Object, assigned time.Time) {
	p := &past{}
	pod, is := obj.(*corev1.Pod)
	var logged attempts
	if is {
		logged = *log.pods[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
		p.bound = !logged.last.Before(at) && !logged.last.IsZero()
	}
	was = before(obj, at, p)
	if !is || pod.Spec.NodeName == "" || was.(*corev1.Pod).Spec.NodeName != "" || !logged.bound.Before(at) && !logged.bound.IsZero() {
		return was, time.Time{}
	}
	assigned = end
	for _, c := range pod.Status.Conditions {
		if since := c.LastTransitionTime.Time; c.Type == corev1.PodScheduled && since.After(logged.last) && since.Before(end) {
			assigned = since.UTC()
		}
	}
	return was, assigned
}
