package classic

import (
	"fmt"

	"github.com/schedq/schedq/queue"
)

// event is a move or, if err is not nil, an error for the Observer.
type event struct {
	move queue.Transition
	err  error
}

// recorder is the machine's Observer. It runs under the lock.
type recorder struct{ *Queue }

// Moved implements queue.Observer.
func (r recorder) Moved(t queue.Transition) {
	if r.log != nil {
		r.log.Moved(t)
	}
	if r.observer != nil {
		r.events = append(r.events, event{move: t})
	}
}

// Failed implements queue.Observer.
func (r recorder) Failed(err error) {
	r.errs.add(err)
	if r.log != nil {
		r.log.Failed(err)
	}
	if r.observer != nil {
		r.events = append(r.events, event{err: err})
	}
}

// claimEvents returns the events that the Observer has not received, or nil if another goroutine is calling the
// Observer and will pass them on. The caller must hold the lock, and then pass the events to notify without it.
func (q *Queue) claimEvents() []event {
	if q.busy || len(q.events) == 0 {
		return nil
	}
	q.busy = true
	return q.takeEvents()
}

func (q *Queue) takeEvents() []event {
	taken := q.events
	q.events = nil
	return taken
}

// notify passes events to the Observer, without the lock. It leaves events that arrive meanwhile to a new
// goroutine, so that other calls do not delay the caller. That also works if the Observer panics.
func (q *Queue) notify(events []event) {
	if len(events) == 0 {
		return
	}
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.busy = len(q.events) > 0
		if q.busy {
			go q.notify(q.takeEvents())
		}
	}()
	for _, e := range events {
		if e.err != nil {
			q.observer.Failed(e.err)
		} else {
			q.observer.Moved(e.move)
		}
	}
}

// errorList collects the errors of one call: the first one and the number of further ones, because a broken hint
// fails for every pod.
type errorList struct {
	first error
	more  int
}

func (l *errorList) add(err error) {
	if l.first == nil {
		l.first = err
		return
	}
	l.more++
}

func (l *errorList) error() error {
	if l.more > 0 {
		return fmt.Errorf("%w (and %d more failures)", l.first, l.more)
	}
	return l.first
}
