package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/tui"
)

// Open returns what opens a visitor's lesson, at first begin, which is one of all. A lesson is made ready once for all
// visitors. Where the teacher's is, schedq notes follows, and speaker has the notes of its step. ctx is that of the room.
func openClass(ctx context.Context, all []*lessons.Lesson, begin *lessons.Lesson, speaker *speaker) (room.Open, error) {
	kept, err := OpenProgress(ctx)
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
	class := &class{records: make(map[string]*classRecord)}
	return func(v *room.Visitor) (tea.Model, error) {
		learner := classLearner{class, v.Name()}
		standings, last := learner.Recall(), learner.last()
		p, err := plan(classLessonOf(all, last, begin))
		if err != nil {
			return nil, err
		}
		o := tui.LessonOptions{
			Session: opts, Lessons: all, Plan: plan, Standings: standings, Progress: learner,
			At:        func(place string) { v.SetPlace(place + learner.doneOf(all)) },
			Predicted: func(g lessons.Given) { v.RecordPrediction(room.Prediction(g)) },
		}
		if s := standings[p.Lesson.Name]; s.Done {
			o.Step = len(p.Steps) - 1
		} else {
			o.Step = s.Step
		}
		if v.Teacher() {
			o.Stage = func(s lessons.Stage) {
				l := classLessonOf(all, s.Lesson, begin)
				kept.Tell(progressStage{Stage: s, File: l.Path()})
				speaker.show(notesOf(l, s.Step))
			}
		}
		return classAsking{tui.NewLesson(v.Context(), p, o, tui.Options{}.Served()).(classLesson)}, nil
	}, nil
}

// lessonOf is the one of all that is called last, where somebody was, or begin.
func classLessonOf(all []*lessons.Lesson, last string, begin *lessons.Lesson) *lessons.Lesson {
	if i := slices.IndexFunc(all, func(l *lessons.Lesson) bool { return l.Name == last }); i >= 0 && last != begin.Name {
		return all[i]
	}
	return begin
}

// lesson is what tui.NewLesson makes, with what the room asks of a screen.
type classLesson interface {
	tea.Model
	Crash() error
	Size() int64
	Slow() tea.Cmd
	Question() (asked lessons.Given, keys []string, open bool)
}

// asking is a lesson whose questions those who follow it answer.
type classAsking struct{ classLesson }

// Update implements tea.Model.
func (a classAsking) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := a.classLesson.Update(msg)
	return a, cmd
}

// Asks is the question that is open: see room.Open.
func (a classAsking) Asks() (asked room.Prediction, keys []string, open bool) {
	given, keys, open := a.Question()
	return room.Prediction(given), keys, open
}

// class keeps how far everybody in a room has come, while it is open: whoever comes in again by the same name goes
// on where they were.
type class struct {
	mu      sync.Mutex
	records map[string]*classRecord // by the learner's name
}

// record is how far somebody has come in each lesson, by its name, and the lesson that they were in last.
type classRecord struct {
	standings map[string]lessons.Standing
	last      string
}

// maxLearners is of how many that is kept.
const maxLearners = 1000

// learner is one of a class. It implements lessons.Progress.
type classLearner struct {
	*class
	name string
}

// Recall implements lessons.Progress.
func (l classLearner) Recall() map[string]lessons.Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.records[l.name]; r != nil {
		return maps.Clone(r.standings)
	}
	return nil
}

// doneOf is how much of the course they have done, to be put behind where they are. It is empty before the first lesson is.
func (l classLearner) doneOf(all []*lessons.Lesson) string {
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
func (l classLearner) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.records[l.name]; r != nil {
		return r.last
	}
	return ""
}

// Keep implements lessons.Progress.
func (l classLearner) Keep(lesson string, s lessons.Standing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.records[l.name]
	if r == nil {
		if len(l.records) >= maxLearners {
			return nil // who comes so late begins anew each time
		}
		r = &classRecord{standings: make(map[string]lessons.Standing)}
		l.records[l.name] = r
	}
	r.standings[lesson], r.last = s, lesson
	return nil
}
