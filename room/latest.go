package room

import "sync"

// latest holds the newest of a series of values and signals when a newer one arrives.
type latest[T any] struct {
	mu      sync.Mutex
	value   T
	changed chan struct{} // closed by the next set; nil if nobody waits
}

// set replaces the value and wakes all waiters.
func (l *latest[T]) set(v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.value = v
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// get returns the value, and a channel that is closed when a newer one is set.
func (l *latest[T]) get() (T, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.value, l.changed
}
