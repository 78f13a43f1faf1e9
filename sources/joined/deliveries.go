package joined

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// deliveries are the recent watch events in schedulers' logs that match no change yet.
type deliveries struct {
	logs     []*window
	received *recent[sources.Delivered, struct{}]
	assigned map[types.UID]bool // pods that have a node according to the changes
}

func newDeliveries(logs []*window) *deliveries {
	d := &deliveries{logs, newRecent[sources.Delivered, struct{}](), map[types.UID]bool{}}
	for _, log := range logs {
		log.seen = append(log.seen, func(ev sources.Event) {
			if what, is := ev.Fact.(*sources.Delivered); is {
				d.received.add(ev.Time, *what, struct{}{})
			}
		})
	}
	return d
}

// deliver sets when a scheduler received an audit log's change, according to the scheduler's logs: a watch may deliver it
// many milliseconds after the API server's response, or some before. The returned time is no later than the delivery.
func (d *deliveries) deliver(ev *sources.Event) {
	c, _ := ev.Fact.(*sources.ObjectChange)
	what, is := d.deliveredAs(c)
	if !is {
		return
	}
	for _, log := range d.logs {
		log.readTo(ev.Time.Add(maxAhead))
	}
	d.received.forget(ev.Time.Add(-maxAhead)) // older ones are of another pod with its name
	times := d.received.of[what]
	if len(times) > 0 && times[0].at.Sub(ev.Time) < maxAhead {
		c.Delivered, d.received.of[what] = times[0].at, times[1:]
		if c.Delivered.Before(ev.Time) {
			ev.Time = c.Delivered
		}
	}
}

// deliveredAs returns what a scheduler logs when it receives c, and false if it logs nothing at -v=3. Its watch delivers
// pods that have ended as deleted (scheduler.go, NewInformerFactory).
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
