package opinion

import "time"

// mostPriorities limits for how many priorities attempts are counted.
const mostPriorities = 64

// slots is how many slots of slotTime attempts are counted for, the longest that Judge looks back.
const (
	slots    = 64
	slotTime = 30 * time.Second
)

// attempts counts the attempts of the pods of one priority, by the time that the source covers.
type attempts struct {
	slot  [slots]slot
	total int
}

// slot is the attempts of a stretch of time.
type slot struct {
	number        int64 // of the stretch
	n             int32
	first, last   time.Duration // the first and the last attempt, as the source covers
	latestCreated time.Time     // of these pods
}

func (a *attempts) add(at moment, created time.Time) {
	number := int64(at.heard / slotTime)
	s := &a.slot[number%slots]
	if s.number != number || s.n == 0 {
		*s = slot{number: number, first: at.heard}
	}
	s.n++
	s.last = at.heard
	if created.After(s.latestCreated) {
		s.latestCreated = created
	}
	a.total++
}

// since returns how many attempts there were after from, and the first and the last of them. With created, it only counts stretches
// in which a pod that was created later was tried.
func (a *attempts) since(from time.Duration, created time.Time) (n int, first, last time.Duration) {
	for i := range a.slot {
		s := &a.slot[i]
		if s.n == 0 || s.first <= from || !created.IsZero() && !s.latestCreated.After(created) {
			continue
		}
		if n == 0 || s.first < first {
			first = s.first
		}
		n, last = n+int(s.n), max(last, s.last)
	}
	return n, first, last
}
