package room

import "sync"

// latest holds the newest of some values, and tells whoever waits that there is a newer one.
type latest[T any] struct {
	mu      sync.Mutex
	value   T
	changed chan struct{} // closed by the next set; nil if nobody waits
}

// set makes v the newest value, and wakes whoever waits for one.
func (l *latest[T]) set(v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.value = v
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// get returns the newest value, and what is closed when there is a newer one.
func (l *latest[T]) get() (T, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.value, l.changed
}
