package room

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/time/rate"
)

// share says which teacher shares their screen.
type share struct {
	number int    // counts the shares
	by     uint64 // the teacher; 0 if nobody shares
}

// frame is the shared screen at one moment.
type frame struct {
	by            uint64
	lines         []string
	width, height int
	cursor        *tea.Cursor
	question      *Prediction // the open question, or nil
	keys          []string    // answer it
}

// asker is a model with questions; see Open.
type asker interface {
	Asks() (question Prediction, keys []string, open bool)
}

// toggleShare starts sharing v's screen, beginning with f, or stops it.
func (r *Room) toggleShare(v *Visitor, f *frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, _ := r.share.get()
	if s.by == v.id {
		r.share.set(share{number: s.number})
		return
	}
	r.frames.set(f)
	r.share.set(share{number: s.number + 1, by: v.id})
}

// answer answers the open question on the shared screen, if key is one of its keys.
func (s *screen) answer(key string) {
	question := s.sharedQuestion()
	if question == nil {
		return
	}
	if i := slices.Index(s.frame.keys, key); i >= 0 && i < len(question.Answers) {
		answered := *question
		answered.Answer = i
		s.visitor.RecordPrediction(answered)
		s.answered = answered
	}
}

// sharedQuestion returns the open question on the shared screen, or nil.
func (s *screen) sharedQuestion() *Prediction {
	if s.frame == nil || s.frame.by != s.share.by {
		return nil
	}
	return s.frame.question
}

// followerBar returns the text of the bar while the visitor follows.
func (s *screen) followerBar() string {
	hint := keyUnfollow + " your own screen"
	if q := s.sharedQuestion(); q != nil {
		keys := strings.Join(s.frame.keys, " ")
		if a := s.answered; a.Lesson == q.Lesson && a.Step == q.Step && a.Question == q.Question {
			hint = "you said " + cleanText(a.Answers[a.Answer]) + " · " + keys + " change · " + hint
		} else {
			hint = keys + " answer · " + hint
		}
	}
	if f := s.frame; f != nil && (f.width > s.width || f.height > s.innerHeight()) {
		return fmt.Sprintf("%s · the teacher's screen is larger (%d×%d)", hint, f.width, f.height) // last, since a phone cuts it off
	}
	return "teacher's screen · " + hint
}

// Messages from the room to a screen.
type (
	snapshotMsg struct{ snapshot *snapshot }
	shareMsg    struct{ share share }
	frameMsg    struct{ frame *frame }
	slowMsg     struct{}
)

// next waits until l holds a value other than shown, at most at the limiter's rate. It returns false
// if ctx ended.
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

// updateRate is how many messages of each kind a screen receives per second.
const updateRate = 10
