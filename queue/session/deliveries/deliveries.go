// Package deliveries holds the changes of objects of which a scheduler has yet to hear.
package deliveries

import (
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Deliveries are changes of objects on their way to a scheduler, in the order in which it hears of them.
type Deliveries []Delivery

// Delivery is a change of an object, and when the scheduler hears of it.
type Delivery struct {
	At     time.Time
	Change *sources.ObjectChange

	alone time.Time // when it would hear of it if nothing were there before
	first Attempts
}

// Attempts are those that a scheduler makes before it hears of a change: one of each of the pods, by UID, or as many of them as it has made By
// then.
type Attempts struct {
	Pods map[types.UID]struct{}
	By   time.Time
}

// Add has the scheduler hear of c, which is told at now, after all that are there: when its log says that it did, or else after that
// delay and behind those attempts.
func (d *Deliveries) Add(now time.Time, delay time.Duration, c *sources.ObjectChange, first Attempts) {
	alone := now.Add(delay)
	switch {
	case c.Delivered.After(now):
		alone = c.Delivered
	case !c.Delivered.IsZero():
		alone = now
	}
	added := Delivery{Change: c, alone: alone, first: first}
	at := added.due()
	i := len(*d)
	for i > 0 && at.Before((*d)[i-1].At) && overtakes(c, (*d)[i-1].Change) {
		i--
	}
	*d = slices.Insert(*d, i, added)
	d.order(i)
}

// Tried takes in that an attempt of the pod with that UID is over.
func (d Deliveries) Tried(now time.Time, uid types.UID) {
	for i := range d {
		first := d[i].first.Pods
		if _, is := first[uid]; !is {
			continue
		}
		if delete(first, uid); len(first) == 0 {
			if d[i].alone.Before(now) {
				d[i].alone = now
			}
			d.order(i)
		}
	}
}

// IsHeld reports whether attempts are to come before the scheduler hears of the change.
func (d *Delivery) IsHeld() bool { return len(d.first.Pods) > 0 }

// due is when the scheduler hears of a change if nothing is there before.
func (d *Delivery) due() time.Time {
	if d.IsHeld() && d.first.By.After(d.alone) {
		return d.first.By
	}
	return d.alone
}

// order has the scheduler hear of each change, from that one on, no earlier than of those before it.
func (d Deliveries) order(from int) {
	for i := from; i < len(d); i++ {
		d[i].At = d[i].due()
		if i > 0 && d[i].At.Before(d[i-1].At) {
			d[i].At = d[i-1].At
		}
	}
}

// overtakes reports whether a scheduler may hear of c before it does of other, which was told before. Each kind has a watch of its own,
// and what one watch tells comes in its order, which the log knows best.
func overtakes(c, other *sources.ObjectChange) bool {
	if reflect.TypeOf(c.Object) != reflect.TypeOf(other.Object) {
		return true
	}
	return !c.Delivered.IsZero() && !other.Delivered.IsZero() && c.Object.(metav1.Object).GetUID() != other.Object.(metav1.Object).GetUID()
}
