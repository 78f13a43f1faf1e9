package shadow

import (
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
)

// deliveries are changes of objects on their way to a scheduler, in the order in which it hears of them.
type deliveries []delivery

// delivery is a change of an object, and when the scheduler hears of it.
type delivery struct {
	At     time.Time
	Change *sources.ObjectChange
}

// Add delivers c, a change at now, after all earlier ones: at the time in the scheduler's log, or else after that delay.
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

// overtakes reports whether a scheduler may hear of c before it does of other, which was told before. Each kind has a watch of its own,
// and what one watch tells comes in its order, which the log knows best.
func overtakes(c, other *sources.ObjectChange) bool {
	if reflect.TypeOf(c.Object) != reflect.TypeOf(other.Object) {
		return true
	}
	return !c.Delivered.IsZero() && !other.Delivered.IsZero() && c.Object.(metav1.Object).GetUID() != other.Object.(metav1.Object).GetUID()
}
