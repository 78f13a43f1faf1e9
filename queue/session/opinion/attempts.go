package opinion

import "time"

// maxPriorities limits for how many priorities attempts are counted.
const maxPriorities = 64

// Attempts are counted in slots of slotTime. Judge looks back by all slots at most.
const (
	slots    = 64
	slotTime = 30 * time.Second
)

// attempts counts the attempts of the pods of one priority, by covered time (see moment).
type attempts struct {
	slot  [slots]slot
	total int
}

// slot counts the attempts of slotTime.
type slot struct {
	number        int64 // covered time divided by slotTime
	n             int32
	first, last   time.Duration // the first and the last attempt, in covered time
	latestCreated time.Time     // when the newest of these pods was created
}

func (a *attempts) add(at moment, created time.Time) {
	number := int64(at.covered / slotTime)
	s := &a.slot[number%slots]
	if s.number != number || s.n == 0 {
		*s = slot{number: number, first: at.covered}
	}
	s.n++
	s.last = at.covered
	if created.After(s.latestCreated) {
		s.latestCreated = created
	}
	a.total++
}

// since calls use with each slot of attempts after from. If created is set, it leaves out slots without an attempt of a pod that was
// created later.
func (a *attempts) since(from time.Duration, created time.Time, use func(*slot)) {
	for i := range a.slot {
		s := &a.slot[i]
		if s.n > 0 && s.first > from && (created.IsZero() || s.latestCreated.After(created)) {
			use(s)
		}
	}
}
