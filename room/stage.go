package room

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/time/rate"
)

// call is a teacher's call to follow.
type call struct {
	number int    // it is the number-th call
	by     uint64 // the teacher whose screen is shown; 0 when nobody calls
}

// scene is what the teacher's screen shows at one moment.
type scene struct {
	by            uint64
	lines         []string
	width, height int
	cursor        *tea.Cursor
}

// follow has everybody see the screen of v, or no longer.
func (r *Room) follow(v *Visitor, s *scene) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, _ := r.call.get()
	if c.by == v.id {
		r.call.set(call{number: c.number})
		return
	}
	r.stage.set(s)
	r.call.set(call{number: c.number + 1, by: v.id})
}

// news is what the room tells a screen.
type (
	standingMsg struct{ standing *standing }
	callMsg     struct{ call call }
	sceneMsg    struct{ scene *scene }
	slowMsg     struct{}
)

// next waits until l holds another value than the one that is shown, at the limiter's rate. It reports false if
// ctx ended.
func next[T comparable](ctx context.Context, l *latest[T], shown T, limiter *rate.Limiter) (T, bool) {
	for {
		v, changed := l.get()
		if v != shown {
			if limiter.Wait(ctx) != nil {
				return shown, false
			}
			v, _ = l.get()
			return v, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return shown, false
		}
	}
}

// newsRate is how often a second a screen takes news of one kind.
const newsRate = 10
