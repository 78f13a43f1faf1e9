package schedlog

import (
	"bytes"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Of several schedulers of one cluster, the one that holds the lease works. A standby fills its queue meanwhile, and begins
// with it when it acquires the lease (v1.37: cmd/kube-scheduler/app/server.go, Run). So a scheduler counts from there.

// leastStandby is the shortest wait for the lease that makes a scheduler a standby. A scheduler without others acquires it
// at once.
const leastStandby = 10 * time.Second

// standby is a stretch in which the log's scheduler waited for the lease.
type standby struct {
	from, to time.Time // without to
	acquired bool      // the lease, at to
	start    *sources.SchedulerStarted
}

// election follows whether the log's scheduler holds the lease.
type election struct {
	start    *sources.SchedulerStarted // the last one, and when that was
	startAt  time.Time
	waits    time.Time // since when it waits for the lease. Zero if it does not
	standbys []standby
}

// startsAt notes that a scheduler starts.
func (e *election) startsAt(at time.Time, fact *sources.SchedulerStarted) {
	e.endAt(at, false)
	e.start, e.startAt = fact, at
}

// waitsAt notes a line about a lease that another holds.
func (e *election) waitsAt(at time.Time) {
	if !e.waits.IsZero() {
		return
	}
	if e.waits = at; e.start != nil {
		e.waits = e.startAt
	}
}

// endAt ends the wait. The scheduler acquired the lease or did something that only a leader does; otherwise it ended, which
// counts only if its start is known.
func (e *election) endAt(at time.Time, acquired bool) {
	if !e.waits.IsZero() && at.Sub(e.waits) >= leastStandby && (acquired || e.start != nil) {
		e.standbys = append(e.standbys, standby{e.waits, at, acquired, e.start})
	}
	e.waits, e.start = time.Time{}, nil
}

// lease reads a line about the lease (client-go: tools/leaderelection/leaderelection.go), structured since v1.33.
func (p *parser) lease(h *header) error {
	rest := bytes.TrimPrefix(h.rest, []byte(`"`))
	if len(rest) < 8 {
		return nil
	}
	is := func(words string) bool {
		return len(rest) >= len(words) && bytes.EqualFold(rest[:len(words)], []byte(words))
	}
	switch rest[0] | 0x20 {
	case 's':
		if is("successfully acquired lease") {
			if again, err := p.again(h); again {
				return err
			}
			at := p.clock.time(h)
			if p.leads.IsZero() {
				p.leads = at
			}
			p.election.endAt(at, true)
		}
	case 'a', 'f', 'l':
		if is("attempting to acquire leader lease") || is("failed to acquire lease") || is("lock is held by ") || is("lease is held ") {
			if again, err := p.again(h); again {
				return err
			}
			p.election.waitsAt(p.clock.time(h))
		}
	}
	return nil
}

// leadsNow notes a line that only the leader writes.
func (p *parser) leadsNow() {
	if !p.election.waits.IsZero() {
		p.election.endAt(p.now, true)
	}
	if p.workedFrom.IsZero() || p.now.Before(p.workedFrom) {
		p.workedFrom = p.now
	}
	if p.now.After(p.workedTo) {
		p.workedTo = p.now
	}
}

// starts returns the log's starts, with the starts of standbys moved to when they acquired the lease, if they did.
func (e *election) starts(starts []sources.Event) []sources.Event {
	starts = slices.DeleteFunc(slices.Clone(starts), func(ev sources.Event) bool { return e.waitsIn(ev.Time) != nil })
	for _, s := range e.standbys {
		if s.start != nil && s.acquired {
			starts = append(starts, sources.Event{Time: s.to, Fact: s.start})
		}
	}
	return starts
}

// waitsIn returns the stretch of waiting that a time is in, or nil.
func (e *election) waitsIn(at time.Time) *standby {
	for i := range e.standbys {
		if s := &e.standbys[i]; !at.Before(s.from) && at.Before(s.to) {
			return s
		}
	}
	return nil
}

// standbyQueue collects the moves in a standby's queue.
type standbyQueue struct {
	of    *standby
	moves map[types.NamespacedName]int // in order
	order []sources.Event
}

// add takes a move of the standby's.
func (q *standbyQueue) add(of *standby, ev sources.Event) {
	if q.of != of {
		*q = standbyQueue{of: of, moves: map[types.NamespacedName]int{}}
	}
	m, is := ev.Fact.(*sources.Move)
	if !is || len(q.moves) >= maxPods {
		return
	}
	if i, known := q.moves[m.Pod]; known {
		q.order[i].Fact = nil
	}
	q.moves[m.Pod] = len(q.order)
	q.order = append(q.order, ev)
}

// take returns the moves by which the pods are where they are when the standby acquires the lease.
func (q *standbyQueue) take() (moves []sources.Event) {
	for _, ev := range q.order {
		if m, is := ev.Fact.(*sources.Move); is && m.To != sources.TierDeleted && q.of.acquired {
			moves = append(moves, sources.Event{Time: q.of.to, Fact: m})
		}
	}
	*q = standbyQueue{}
	return moves
}
