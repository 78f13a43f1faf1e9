package shadow

import (
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
)

// deliveries are changes of objects that a scheduler has not received yet, in order of delivery.
type deliveries []delivery

// delivery is a change of an object and the time at which the scheduler receives it.
type delivery struct {
	At     time.Time
	Change *sources.ObjectChange
}

// Add queues c, a change at now. The delivery time is the one in the scheduler's log if known,
// otherwise now plus delay. It is not before an earlier delivery unless c may overtake that one.
func (d *deliveries) Add(now time.Time, delay time.Duration, c *sources.ObjectChange) {
	at := now.Add(delay)
	switch {
	case c.Delivered.After(now):
		at = c.Delivered
	case !c.Delivered.IsZero():
		at = now
	}
	i := len(*d)
	for i > 0 && at.Before((*d)[i-1].At) && overtakes(c, (*d)[i-1].Change) {
		i--
	}
	if i > 0 && at.Before((*d)[i-1].At) {
		at = (*d)[i-1].At
	}
	*d = slices.Insert(*d, i, delivery{At: at, Change: c})
}

// overtakes reports whether a scheduler may receive c before other, which the source reported
// first. Each kind has its own watch. A watch delivers changes in order, and the scheduler's log is
// the best source for that order.
func overtakes(c, other *sources.ObjectChange) bool {
	if reflect.TypeOf(c.Object) != reflect.TypeOf(other.Object) {
		return true
	}
	return !c.Delivered.IsZero() && !other.Delivered.IsZero() && c.Object.(metav1.Object).GetUID() != other.Object.(metav1.Object).GetUID()
}
