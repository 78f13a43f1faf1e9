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

// openLessons returns a function that opens a visitor's lesson: the visitor's last one, or first. All
// visitors share the prepared lessons. The teacher's step is published for schedq notes and for notes.
// ctx is the room's.
func openLessons(ctx context.Context, all []*lessons.Lesson, first *lessons.Lesson, notes *stepNotes) (room.Open, error) {
	progress, err := openProgress(ctx)
	if err != nil {
		return nil, err
	}
	opts, err := lessons.Options()
	if err != nil {
		return nil, err
	}
	plans := make(map[*lessons.Lesson]func() (*lessons.Plan, error), len(all))
	for _, l := range all {
		plans[l] = sync.OnceValues(func() (*lessons.Plan, error) { return l.Plan(ctx, opts) })
	}
	plan := func(l *lessons.Lesson) (*lessons.Plan, error) { return plans[l]() }
	if _, err := plan(first); err != nil {
		return nil, err
	}
	class := &classroom{records: make(map[string]*learnerRecord)}
	return func(v *room.Visitor) (tea.Model, error) {
		learner := learner{class, v.Name()}
		standings, last := learner.Recall(), learner.last()
		p, err := plan(lessonNamed(all, last, first))
		if err != nil {
			return nil, err
		}
		o := tui.LessonOptions{
			Session: opts, Lessons: all, Plan: plan, Standings: standings, Progress: learner,
			At:        func(place string) { v.SetPlace(place + learner.summary(all)) },
			Predicted: func(g lessons.Given) { v.RecordPrediction(room.Prediction(g)) },
		}
		if s := standings[p.Lesson.Name]; s.Done {
			o.Step = len(p.Steps) - 1
		} else {
			o.Step = s.Step
		}
		if v.Teacher() {
			o.Stage = func(s lessons.Stage) {
				l := lessonNamed(all, s.Lesson, first)
				progress.Publish(publishedStage{Stage: s, File: l.Path()})
				notes.Set(notesOf(l, s.Step))
			}
		}
		return questionScreen{tui.NewLesson(v.Context(), p, o, tui.Options{}.Served()).(lessonScreen)}, nil
	}, nil
}

// lessonNamed returns the lesson of all with that name, or first. If first has that name, it wins.
func lessonNamed(all []*lessons.Lesson, name string, first *lessons.Lesson) *lessons.Lesson {
	if i := slices.IndexFunc(all, func(l *lessons.Lesson) bool { return l.Name == name }); i >= 0 && name != first.Name {
		return all[i]
	}
	return first
}

// lessonScreen is the model that tui.NewLesson returns, with the optional methods of room.Open.
type lessonScreen interface {
	tea.Model
	Crash() error
	Size() int64
	Slow() tea.Cmd
	Question() (asked lessons.Given, keys []string, open bool)
}

// questionScreen is a lesson whose open question the teacher's followers answer.
type questionScreen struct{ lessonScreen }

// Update implements tea.Model.
func (q questionScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := q.lessonScreen.Update(msg)
	return q, cmd
}

// Asks returns the open question: see room.Open.
func (q questionScreen) Asks() (asked room.Prediction, keys []string, open bool) {
	given, keys, open := q.Question()
	return room.Prediction(given), keys, open
}

// classroom keeps the learners' progress while a room is open, so that those who return continue where
// they left.
type classroom struct {
	mu      sync.Mutex
	records map[string]*learnerRecord // by the learner's name
}

// learnerRecord is a learner's progress by lesson, and the learner's last lesson.
type learnerRecord struct {
	standings map[string]lessons.Standing
	last      string
}

// maxLearners limits the records of a classroom. Later learners start over each time they return.
const maxLearners = 1000

// learner is a visitor's progress in a classroom. It implements lessons.Progress.
type learner struct {
	*classroom
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

// summary returns " · 1 of 3 done", or "" while no lesson is done.
func (l learner) summary(all []*lessons.Lesson) string {
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

// last returns the name of the learner's last lesson, or "".
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
			return nil
		}
		r = &learnerRecord{standings: make(map[string]lessons.Standing)}
		l.records[l.name] = r
	}
	r.standings[lesson], r.last = s, lesson
	return nil
}

// stepNotes holds the speaker notes of the teacher's current step, for a second screen. The zero value
// has none. It is safe for concurrent use.
type stepNotes struct {
	mu      sync.Mutex
	text    string
	changed chan struct{} // closed at the next change; nil if nobody waits
}

// Set replaces the notes.
func (n *stepNotes) Set(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text = text
	if n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
}

// Next waits for notes that differ from shown and returns them. It returns ctx's error when ctx ends.
func (n *stepNotes) Next(ctx context.Context, shown string) (string, error) {
	for {
		n.mu.Lock()
		text := n.text
		if n.changed == nil {
			n.changed = make(chan struct{})
		}
		changed := n.changed
		n.mu.Unlock()
		if text != shown {
			return text, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
