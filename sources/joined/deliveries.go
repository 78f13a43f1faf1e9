package joined

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// deliveries are what schedulers have heard of lately and no change is known for, as their logs say.
type deliveries struct {
	logs     []*window
	heard    *recent[sources.Delivered, struct{}]
	assigned map[types.UID]bool // the pods that they know to have a node
}

func newDeliveries(logs []*window) *deliveries {
	d := &deliveries{logs, newRecent[sources.Delivered, struct{}](), map[types.UID]bool{}}
	for _, log := range logs {
		log.seen = append(log.seen, func(ev sources.Event) {
			if what, is := ev.Fact.(*sources.Delivered); is {
				d.heard.add(ev.Time, *what, struct{}{})
			}
		})
	}
	return d
}

// deliver notes with a change that an audit log tells of when the scheduler heard of it, as its logs say: a watch may tell it many
// milliseconds after the API server's answer, or some before. Then the change becomes so no later than it was heard of.
func (d *deliveries) deliver(ev *sources.Event) {
	c, _ := ev.Fact.(*sources.ObjectChange)
	what, is := d.deliveredAs(c)
	if !is {
		return
	}
	for _, log := range d.logs {
		log.readTo(ev.Time.Add(maxAhead))
	}
	d.heard.forget(ev.Time.Add(-maxAhead)) // those are of another of its name
	times := d.heard.of[what]
	if len(times) > 0 && times[0].at.Sub(ev.Time) < maxAhead {
		c.Delivered, d.heard.of[what] = times[0].at, times[1:]
		if c.Delivered.Before(ev.Time) {
			ev.Time = c.Delivered
		}
	}
}

// deliveredAs returns what a scheduler says that hears of c, and false if that is nothing at -v=3. Its watch tells of pods that have
// ended as of such that are gone (scheduler.go, NewInformerFactory).
func (d *deliveries) deliveredAs(c *sources.ObjectChange) (sources.Delivered, bool) {
	if c == nil {
		return sources.Delivered{}, false
	}
	switch obj := c.Object.(type) {
	case *corev1.Node:
		return sources.Delivered{Verb: c.Verb, Node: true, Name: types.NamespacedName{Name: obj.Name}}, c.Verb != sources.Updated
	case *corev1.Pod:
		what := sources.Delivered{Verb: c.Verb, Assigned: obj.Spec.NodeName != "", Name: types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}}
		ended := c.Verb == sources.Deleted || obj.Status.Phase == corev1.PodSucceeded || obj.Status.Phase == corev1.PodFailed
		switch known := d.assigned[obj.UID]; {
		case ended:
			what.Verb, what.Assigned = sources.Deleted, what.Assigned || known
			delete(d.assigned, obj.UID)
		case what.Assigned && !known:
			what.Verb, d.assigned[obj.UID] = sources.Added, true
		}
		return what, what.Verb != sources.Updated
	}
	return sources.Delivered{}, false
}
