package joined

import (
	"fmt"
	"iter"
	"time"

	"github.com/schedq/schedq/sources"
)

// room counts and limits the bytes of the events that wait.
type room struct{ most, taken int }

// keep adds an event's bytes, or subtracts them.
func (r *room) keep(ev sources.Event, sign int) {
	r.taken += sign * (sources.Cost(ev.Fact) + sources.CostEntry)
}

// err returns an error if the waiting events take too much memory.
func (r *room) err() error {
	if r.most <= 0 || r.taken <= r.most {
		return nil
	}
	return fmt.Errorf("the logs' events of one moment take more than %d MiB of memory: raise the limit with --memory", r.most>>20)
}

// window reads a scheduler's log: first as evidence of changes, then for its events.
type window struct {
	of      *Log
	next    func() (sources.Event, error, bool)
	stop    func()
	room    *room
	seen    []func(sources.Event) // called with each event read
	from    time.Time             // the time from which on they are
	waiting []sources.Event       // read and not yielded yet
	upTo    time.Time             // the time of the last event read
	ended   bool
	err     error
	starts  int // number of starts read
	// alone is true if no objects are known: then pods' arrivals and departures are known only from the log.
	alone bool
}

func newWindow(l *Log, events Events, from time.Time, room *room) *window {
	w := &window{of: l, from: from, room: room}
	w.next, w.stop = iter.Pull2(events)
	return w
}

// readTo reads the log up to that time.
func (w *window) readTo(t time.Time) {
	for !w.ended && !w.upTo.After(t) {
		w.read()
	}
}

// read reads the next event.
func (w *window) read() {
	ev, err, some := w.next()
	if !some || err != nil {
		w.ended, w.err = true, err
		return
	}
	w.upTo = ev.Time
	if !ev.Time.Before(w.from) {
		for _, see := range w.seen {
			see(ev)
		}
	}
	switch ev.Fact.(type) {
	case *sources.Delivered:
		move := w.of.arrivalOrEnd(ev)
		if !w.alone || move == nil {
			return
		}
		ev.Fact = move
	case *sources.SchedulerStarted:
		if w.starts++; w.of.describes(w.starts - 1) {
			return
		}
	}
	w.room.keep(ev, +1)
	if w.waiting = append(w.waiting, ev); w.room.err() != nil {
		w.ended, w.err = true, w.room.err()
	}
}

// events yields the log's events.
func (w *window) events() Events {
	return func(yield func(sources.Event, error) bool) {
		for {
			for len(w.waiting) == 0 && !w.ended {
				w.read()
			}
			switch {
			case w.err != nil:
				yield(sources.Event{}, w.err)
				return
			case len(w.waiting) == 0:
				return
			}
			ev := w.waiting[0]
			w.waiting[0] = sources.Event{}
			w.waiting = w.waiting[1:]
			w.room.keep(ev, -1)
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// recent has recent values by key.
type recent[K comparable, V any] struct {
	of    map[K][]timed[V]
	order []dated[K]
}

type timed[V any] struct {
	at    time.Time
	value V
}

type dated[K comparable] struct {
	at time.Time
	of K
}

func newRecent[K comparable, V any]() *recent[K, V] { return &recent[K, V]{of: map[K][]timed[V]{}} }

// add adds a value. Values must be roughly in the order of time.
func (r *recent[K, V]) add(at time.Time, of K, value V) {
	all := append(r.of[of], timed[V]{at, value})
	for i := len(all) - 1; i > 0 && all[i].at.Before(all[i-1].at); i-- {
		all[i], all[i-1] = all[i-1], all[i]
	}
	r.of[of] = all
	r.order = append(r.order, dated[K]{at, of})
}

// forget forgets the values from before that time.
func (r *recent[K, V]) forget(before time.Time) {
	for len(r.order) > 0 && r.order[0].at.Before(before) {
		of := r.order[0].of
		r.order = r.order[1:]
		rest := r.of[of]
		for len(rest) > 0 && rest[0].at.Before(before) {
			rest = rest[1:]
		}
		if r.of[of] = rest; len(rest) == 0 {
			delete(r.of, of)
		}
	}
}
