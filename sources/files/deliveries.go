package files

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// deliver notes with the changes that an audit log tells of when the scheduler heard of them, as its logs say: a watch may tell it many
// milliseconds after the API server's answer, or some before. Then the change becomes so no later than it was heard of. The order of
// the changes stays.
func deliver(changes []sources.Event, logs []*sources.Part) {
	heard := map[sources.Delivered][]time.Time{}
	for _, log := range logs {
		for _, d := range log.Deliveries {
			heard[d.Delivered] = append(heard[d.Delivered], d.Time)
		}
	}
	if len(heard) == 0 {
		return
	}
	for _, times := range heard {
		slices.SortFunc(times, time.Time.Compare)
	}
	assigned := map[types.UID]bool{}
	for i := range changes {
		e := &changes[i]
		c, _ := e.Fact.(*sources.ObjectChange)
		what, is := deliveredAs(c, assigned)
		if !is {
			continue
		}
		times := heard[what]
		for len(times) > 0 && e.Time.Sub(times[0]) > maxAhead {
			times = times[1:] // of another of its name
		}
		if len(times) > 0 && times[0].Sub(e.Time) < maxAhead {
			c.Delivered, times = times[0], times[1:]
			if c.Delivered.Before(e.Time) {
				e.Time = c.Delivered
			}
		}
		heard[what] = times
	}
	inOrder(changes)
}

// deliveredAs returns what a scheduler says that hears of c, and false if that is nothing at -v=3. assigned are the pods that it knows
// to have a node. Its watch tells of pods that have ended as of such that are gone (scheduler.go, NewInformerFactory).
func deliveredAs(c *sources.ObjectChange, assigned map[types.UID]bool) (sources.Delivered, bool) {
	if c == nil {
		return sources.Delivered{}, false
	}
	switch obj := c.Object.(type) {
	case *corev1.Node:
		return sources.Delivered{Verb: c.Verb, Node: true, Name: types.NamespacedName{Name: obj.Name}}, c.Verb != sources.Updated
	case *corev1.Pod:
		what := sources.Delivered{Verb: c.Verb, Assigned: obj.Spec.NodeName != "", Name: types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}}
		ended := c.Verb == sources.Deleted || obj.Status.Phase == corev1.PodSucceeded || obj.Status.Phase == corev1.PodFailed
		switch known := assigned[obj.UID]; {
		case ended:
			what.Verb, what.Assigned = sources.Deleted, what.Assigned || known
			delete(assigned, obj.UID)
		case what.Assigned && !known:
			what.Verb, assigned[obj.UID] = sources.Added, true
		}
		return what, what.Verb != sources.Updated
	}
	return sources.Delivered{}, false
}
