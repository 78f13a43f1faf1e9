package class

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/cmd/schedq/notes"
	"github.com/schedq/schedq/cmd/schedq/progress"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/tui"
)

// Open returns what opens a visitor's lesson, at first begin, which is one of all. A lesson is made ready once for all
// visitors. Where the teacher's is, schedq notes follows, and speaker has the notes of its step. ctx is that of the room.
func Open(ctx context.Context, all []*lessons.Lesson, begin *lessons.Lesson, speaker *Speaker) (room.Open, error) {
	kept, err := progress.Open(ctx)
	if err != nil {
		return nil, err
	}
	opts, err := lessons.Options()
	if err != nil {
		return nil, err
	}
	ready := make(map[*lessons.Lesson]func() (*lessons.Plan, error), len(all))
	for _, l := range all {
		ready[l] = sync.OnceValues(func() (*lessons.Plan, error) { return l.Plan(ctx, opts) })
	}
	plan := func(l *lessons.Lesson) (*lessons.Plan, error) { return ready[l]() }
	if _, err := plan(begin); err != nil {
		return nil, err
	}
	class := &class{records: make(map[string]*record)}
	return func(v *room.Visitor) (tea.Model, error) {
		learner := learner{class, v.Name()}
		standings, last := learner.Recall(), learner.last()
		p, err := plan(lessonOf(all, last, begin))
		if err != nil {
			return nil, err
		}
		o := tui.LessonOptions{
			Session: opts, Lessons: all, Plan: plan, Standings: standings, Progress: learner,
			At:        func(place string) { v.At(place + learner.doneOf(all)) },
			Predicted: func(g lessons.Given) { v.Predicted(room.Prediction(g)) },
		}
		if s := standings[p.Lesson.Name]; s.Done {
			o.Step = len(p.Steps) - 1
		} else {
			o.Step = s.Step
		}
		if v.Teacher() {
			o.Stage = func(s lessons.Stage) {
				l := lessonOf(all, s.Lesson, begin)
				kept.Tell(progress.Stage{Stage: s, File: l.Path()})
				speaker.show(notes.Of(l, s.Step))
			}
		}
		return asking{tui.NewLesson(v.Context(), p, o, tui.Options{}.Served()).(lesson)}, nil
	}, nil
}

// lessonOf is the one of all that is called last, where somebody was, or begin.
func lessonOf(all []*lessons.Lesson, last string, begin *lessons.Lesson) *lessons.Lesson {
	if i := slices.IndexFunc(all, func(l *lessons.Lesson) bool { return l.Name == last }); i >= 0 && last != begin.Name {
		return all[i]
	}
	return begin
}

// lesson is what tui.NewLesson makes, with what the room asks of a screen.
type lesson interface {
	tea.Model
	Crash() error
	Size() int64
	Slow() tea.Cmd
	Question() (asked lessons.Given, keys []string, open bool)
}

// asking is a lesson whose questions those who follow it answer.
type asking struct{ lesson }

// Update implements tea.Model.
func (a asking) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := a.lesson.Update(msg)
	return a, cmd
}

// Asks is the question that is open: see room.Open.
func (a asking) Asks() (asked room.Prediction, keys []string, open bool) {
	given, keys, open := a.Question()
	return room.Prediction(given), keys, open
}

// class keeps how far everybody in a room has come, while it is open: whoever comes in again by the same name goes
// on where they were.
type class struct {
	mu      sync.Mutex
	records map[string]*record // by the learner's name
}

// record is how far somebody has come in each lesson, by its name, and the lesson that they were in last.
type record struct {
	standings map[string]lessons.Standing
	last      string
}

// maxLearners is of how many that is kept.
const maxLearners = 1000

// learner is one of a class. It implements lessons.Progress.
type learner struct {
	*class
	name string
}

// Recall implements lessons.Progress.
func (l learner) Recall() map[string]lessons.Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.records[l.name]; r != nil {
		return maps.Clone(r.standings)
	}
	return nil
}

// doneOf is how much of the course they have done, to be put behind where they are. It is empty before the first lesson is.
func (l learner) doneOf(all []*lessons.Lesson) string {
	standings, done := l.Recall(), 0
	for _, of := range all {
		if standings[of.Name].Done {
			done++
		}
	}
	if done == 0 {
		return ""
	}
	return fmt.Sprintf(" · %d of %d done", done, len(all))
}

// last is the lesson that they were in last, or empty.
func (l learner) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.records[l.name]; r != nil {
		return r.last
	}
	return ""
}

// Keep implements lessons.Progress.
func (l learner) Keep(lesson string, s lessons.Standing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.records[l.name]
	if r == nil {
		if len(l.records) >= maxLearners {
			return nil // who comes so late begins anew each time
		}
		r = &record{standings: make(map[string]lessons.Standing)}
		l.records[l.name] = r
	}
	r.standings[lesson], r.last = s, lesson
	return nil
}
