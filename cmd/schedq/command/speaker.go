package command

import (
	"context"
	"sync"
)

// Speaker has the notes of the step that a room's teacher is at, for a second screen. The zero value has none yet. It is safe
// for concurrent use.
type speaker struct {
	mu      sync.Mutex
	notes   string
	changed chan struct{} // closed when there are others; nil if nobody waits
}

// show has the notes be those.
func (s *speaker) show(notes string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = notes
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Next waits until the notes are others than those that are shown, and returns them. The error is that of ctx, which has ended.
func (s *speaker) Next(ctx context.Context, shown string) (string, error) {
	for {
		s.mu.Lock()
		notes := s.notes
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		if notes != shown {
			return notes, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
