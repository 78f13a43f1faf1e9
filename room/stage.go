package room

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	// asks is the question on it, if one is open, and keys those that answer it.
	asks *Prediction
	keys []string
}

// asker is a screen that asks those who see it.
type asker interface {
	Asks() (asked Prediction, keys []string, open bool)
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

// answer answers the teacher's question, if one is open and key is one of those that do.
func (s *screen) answer(key string) {
	asked := s.asked()
	if asked == nil {
		return
	}
	if i := slices.Index(s.scene.keys, key); i >= 0 && i < len(asked.Answers) {
		given := *asked
		given.Answer = i
		s.visitor.Predicted(given)
		s.given = given
	}
}

// asked is the question on the teacher's screen, or nil.
func (s *screen) asked() *Prediction {
	if s.scene == nil || s.scene.by != s.call.by {
		return nil
	}
	return s.scene.asks
}

// followingBar says what one can do on the teacher's screen.
func (s *screen) followingBar() string {
	does := keyLetGo + " goes back to yours"
	if asked := s.asked(); asked != nil {
		if g := s.given; g.Lesson == asked.Lesson && g.Step == asked.Step && g.Question == asked.Question {
			does = "you said " + words(g.Answers[g.Answer]) + ", " + strings.Join(s.scene.keys, " ") + " change it · " + keyLetGo + " goes back"
		} else {
			does = strings.Join(s.scene.keys, " ") + " answer · " + does
		}
	}
	if n := s.scene; n != nil && (n.width > s.width || n.height > s.innerHeight()) {
		return fmt.Sprintf("%s · the teacher's screen is larger than yours (%d×%d)", does, n.width, n.height) // which a phone has no room for
	}
	return "the teacher's screen: " + does
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
