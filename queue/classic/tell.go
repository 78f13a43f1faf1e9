package classic

import (
	"fmt"

	"github.com/schedq/schedq/queue"
)

// news is something that the Observer is to be told: a failure, or else a move.
type news struct {
	move    queue.Transition
	failure error
}

// recorder is the machine's Observer. It runs under the lock.
type recorder struct{ *Queue }

// Moved implements queue.Observer.
func (r recorder) Moved(t queue.Transition) {
	if r.log != nil {
		r.log.Moved(t)
	}
	if r.observer != nil {
		r.untold = append(r.untold, news{move: t})
	}
}

// Failed implements queue.Observer.
func (r recorder) Failed(err error) {
	r.failures.add(err)
	if r.log != nil {
		r.log.Failed(err)
	}
	if r.observer != nil {
		r.untold = append(r.untold, news{failure: err})
	}
}

// claimUntold takes what the Observer was not yet told, unless someone is telling it at the moment, who then goes
// on with it. The queue must be locked; whoever has taken something must tell it after unlocking.
func (q *Queue) claimUntold() []news {
	if q.telling || len(q.untold) == 0 {
		return nil
	}
	q.telling = true
	return q.takeUntold()
}

// takeUntold returns what the Observer was not yet told, and forgets it.
func (q *Queue) takeUntold() []news {
	taken := q.untold
	q.untold = nil
	return taken
}

// tellObserver tells the Observer, without the lock. What came meanwhile is left to a goroutine, so that no caller is
// held up by the doings of others; and it is not lost if the Observer panics.
func (q *Queue) tellObserver(batch []news) {
	if len(batch) == 0 {
		return
	}
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.telling = len(q.untold) > 0
		if q.telling {
			go q.tellObserver(q.takeUntold())
		}
	}()
	for _, n := range batch {
		if n.failure != nil {
			q.observer.Failed(n.failure)
		} else {
			q.observer.Moved(n.move)
		}
	}
}

// failures is what failed during one call: a hint that is broken fails for every pod, so it is the first
// and a count.
type failures struct {
	first error
	more  int
}

func (f *failures) add(err error) {
	if f.first == nil {
		f.first = err
		return
	}
	f.more++
}

func (f *failures) error() error {
	if f.more > 0 {
		return fmt.Errorf("%w (and %d more failures)", f.first, f.more)
	}
	return f.first
}
