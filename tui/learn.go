package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
)

// LessonOptions say what a lesson's screen has to do with the world. The zero value will do: then it has nothing
// to do with it.
type LessonOptions struct {
	Options
	// Session are the lesson's session's options: see lessons.Options.
	Session session.Options
	// Lessons are those that the person can switch to, in their order, and Plan makes one ready. It is called
	// outside of the screen's own goroutine.
	Lessons []*lessons.Lesson
	Plan    func(*lessons.Lesson) (*lessons.Plan, error)
	// Step is the step that is shown first.
	Step int
	// Standings are those of the lessons so far.
	Standings map[string]lessons.Standing
	// At is told where the person is, in a few words; Predicted each answer that they give; Stage each step. They
	// are called outside of the screen's own goroutine, and may be nil.
	At        func(place string)
	Predicted func(lessons.Given)
	Stage     func(lessons.Stage)
}

// NewLesson returns a screen that teaches a lesson. It needs no terminal of its own, ends when ctx does, and keeps
// in progress how far the person comes. Nil: that is not kept.
func NewLesson(ctx context.Context, plan *lessons.Plan, progress lessons.Progress, o LessonOptions) tea.Model {
	return newLessonModel(ctx, plan, progress, o)
}

func newLessonModel(ctx context.Context, plan *lessons.Plan, progress lessons.Progress, o LessonOptions) *model {
	if progress == nil {
		progress = lessons.Forgotten{}
	}
	m := newModel(ctx, plan.Open(o.Session), o.Options)
	m.lesson = &learning{options: o, progress: progress, standings: map[string]lessons.Standing{}}
	for name, s := range o.Standings {
		m.lesson.standings[name] = s
	}
	m.lesson.begin = m.teach(plan, o.Step)
	return m
}

// RunLesson teaches a lesson on the terminal, as Run shows a session.
func RunLesson(ctx context.Context, plan *lessons.Plan, progress lessons.Progress, o LessonOptions) error {
	return run(ctx, o.Options, func(ctx context.Context, screen Options) *model {
		o.Options = screen
		return newLessonModel(ctx, plan, progress, o)
	})
}

// beginLesson is what is left to do when the program starts.
func (m *model) beginLesson() tea.Cmd {
	if m.lesson == nil {
		return nil
	}
	return tea.Batch(m.lesson.begin, everySecond())
}

// phase is how far a step has come.
type phase uint8

const (
	// reading: there is a text.
	reading phase = iota
	// asking: a question is open.
	asking
	// going: time passes up to what was asked about.
	going
	// told: it has come, and what was answered was judged.
	told
	// trying: the goal is not reached.
	trying
	// reached: it is.
	reached
	// over: the last step is behind.
	over
)

// noAnswer is in the place of an answer that was not given.
const noAnswer = -1

// learning is the lesson that a screen teaches.
type learning struct {
	options   LessonOptions
	progress  lessons.Progress
	standings map[string]lessons.Standing

	plan  *lessons.Plan
	step  int
	phase phase
	// visits counts the steps that were gone to.
	visits int
	given  []int // the answers to the questions of the step so far

	// Of a goal: the attempt, nil until it has begun; why it is not reached although its pod moved; how many
	// hints were given; whether the solution is shown.
	attempt  *lessons.Attempt
	why      string
	hints    int
	solution bool

	begin tea.Cmd // what is left to do of the first step when the program starts

	began, now  time.Time
	asks, right int // questions answered in this lesson, and rightly
	blank       bool
	room        rect
}

// current is the step that is shown.
func (l *learning) current() *lessons.Step { return &l.plan.Lesson.Steps[l.step] }

// teach begins with a lesson, which the session that is shown plays, at a step.
func (m *model) teach(plan *lessons.Plan, step int) tea.Cmd {
	l := m.lesson
	l.plan, l.began, l.now, l.asks, l.right = plan, time.Now(), time.Now(), 0, 0
	return m.toStep(min(max(step, 0), len(plan.Steps)-1))
}

// toStep shows a step from its beginning.
func (m *model) toStep(i int) tea.Cmd {
	l := m.lesson
	m.leaveGoal()
	m.session.Pause()
	m.session.SetSpeed(1)
	l.step, l.phase, l.given = i, reading, nil
	l.attempt, l.why, l.hints, l.solution = nil, "", 0, false
	s := l.current()
	l.plan.Steps[i].From.GoTo(m.session, l.plan.Lesson.Scenario.Start)
	if s.Look.Name != "" {
		m.selected = selection{s.Look, true}
	}
	m.zoom, m.under = zoomNone, zoomNone
	l.visits++
	switch {
	case s.Prediction != nil:
		l.phase = asking
	case s.Goal != nil:
		l.phase = trying
		return tea.Batch(m.keepStanding(), there(m.session, l.visits))
	}
	return m.keepStanding()
}

// thereMsg is that the session has gone where a step begins, at that visit.
type thereMsg struct{ visit int }

// there waits until s has gone where it was told to go: the way may take some time.
func there(s *session.Session, visit int) tea.Cmd {
	return guarded(func() tea.Msg {
		s.Sync()
		return thereMsg{visit}
	})
}

// beginGoal begins with the goal of the step, unless the person has gone on.
func (m *model) beginGoal(msg thereMsg) {
	if msg.visit == m.lesson.visits {
		m.lesson.current().Goal.Begin(m.session)
	}
}

// leaveGoal closes the what-if of a goal.
func (m *model) leaveGoal() {
	if m.frame.Fork != nil {
		m.session.CloseFork(m.frame.Fork.ID)
	}
}

// leaveWhatIf goes back to the story, which is what was asked about, from a what-if of the person's own.
func (m *model) leaveWhatIf() {
	if m.frame.Fork != nil {
		m.session.LeaveFork()
	}
}

// nextStep goes on.
func (m *model) nextStep() tea.Cmd {
	l := m.lesson
	switch {
	case l.phase == asking:
		return m.goOn()
	case l.phase == going:
		m.arrive()
		return nil
	case l.phase == over:
		return m.nextLesson()
	case l.step == len(l.plan.Steps)-1:
		m.leaveGoal()
		l.visits++
		l.phase = over
		return m.keepStanding()
	}
	return m.toStep(l.step + 1)
}

// stepBack goes to the step before.
func (m *model) stepBack() tea.Cmd {
	l := m.lesson
	if l.phase == over {
		return m.toStep(l.step)
	}
	if l.step == 0 {
		return m.tell(notice{"this is the first step", true})
	}
	return m.toStep(l.step - 1)
}

// ask is the question that is open.
func (l *learning) ask() *lessons.Ask { return &l.current().Prediction.Asks[len(l.given)] }

// answer takes the answer of that index to the question that is open.
func (m *model) answer(i int) tea.Cmd {
	l := m.lesson
	a := l.ask()
	l.asks++
	if a.Answers[i].Right {
		l.right++
	}
	given := lessons.Given{Lesson: string(l.plan.Lesson.Title), Step: string(l.current().Title), Question: string(a.Question), Answer: i, Right: a.Right()}
	for _, answer := range a.Answers {
		given.Answers = append(given.Answers, answerName(answer))
	}
	l.given = append(l.given, i)
	var cmd tea.Cmd
	if len(l.given) == len(l.current().Prediction.Asks) {
		cmd = m.goOn()
	}
	tellOf := l.options.Predicted
	if tellOf == nil {
		return cmd
	}
	return tea.Batch(cmd, guarded(func() tea.Msg { tellOf(given); return nil }))
}

// showing is for how long what comes is shown coming, in real time.
const showing = 2 * time.Second

// goOn lets time pass up to what was asked about. Questions that are left open stay so.
func (m *model) goOn() tea.Cmd {
	l := m.lesson
	for len(l.given) < len(l.current().Prediction.Asks) {
		l.given = append(l.given, noAnswer)
	}
	l.phase = going
	m.leaveWhatIf()
	planned := l.plan.Steps[l.step]
	d := planned.To.At - planned.From.At
	if d < 200*time.Millisecond {
		m.arrive()
		return nil
	}
	planned.From.GoTo(m.session, l.plan.Lesson.Scenario.Start) // wherever the person has gone
	m.session.SetSpeed(max(1, float64(d)/float64(showing)))
	m.session.Play()
	return nil
}

// arrive shows what was asked about.
func (m *model) arrive() {
	l := m.lesson
	l.phase = told
	m.session.Pause()
	m.session.SetSpeed(1)
	m.leaveWhatIf()
	l.plan.Steps[l.step].To.GoTo(m.session, l.plan.Lesson.Scenario.Start)
}

// learned takes in a new frame: whether time has come to what was asked about, and whether a goal is reached.
func (m *model) learned() tea.Cmd {
	l, f := m.lesson, m.frame
	if l == nil {
		return nil
	}
	switch l.phase {
	case going:
		to := l.plan.Lesson.Scenario.Start.Add(l.plan.Steps[l.step].To.At)
		lead := time.Duration(f.Speed * float64(2*session.FrameInterval))
		if to.Sub(f.Now) <= lead || f.AtEnd {
			m.arrive()
		}
	case trying, reached:
		g := l.current().Goal
		if f.Fork == nil {
			l.attempt = nil
			return nil
		}
		if l.attempt == nil && !g.Person && !f.Fork.Scheduling {
			return nil
		}
		if l.attempt == nil {
			l.attempt = &lessons.Attempt{Moves: f.Log.Len()}
		}
		done, why := g.Reached(f, *l.attempt)
		l.phase, l.why = trying, why
		if done {
			l.phase = reached
		}
	}
	return nil
}

// keepStanding keeps where the person is, and tells of it.
func (m *model) keepStanding() tea.Cmd {
	l := m.lesson
	name := l.plan.Lesson.Name
	s := l.standings[name]
	s.Step = l.step
	if l.phase == over {
		s = lessons.Standing{Done: true, Asked: l.asks, Right: l.right}
	}
	l.standings[name] = s
	progress, at, stage := l.progress, l.options.At, l.options.Stage
	place := fmt.Sprintf("%s, step %d of %d", l.plan.Lesson.Title, l.step+1, len(l.plan.Steps))
	shown := lessons.Stage{Lesson: name, Step: l.step}
	return guarded(func() tea.Msg {
		if at != nil {
			at(place)
		}
		if stage != nil {
			stage(shown)
		}
		return keptMsg{progress.Keep(name, s)}
	})
}

// lessonReady is a lesson that was made ready, or why it could not be.
type lessonReady struct {
	plan *lessons.Plan
	err  error
}

// openLesson makes another lesson ready.
func (m *model) openLesson(l *lessons.Lesson) tea.Cmd {
	plan := m.lesson.options.Plan
	return tea.Batch(m.tell(notice{text: "opening " + string(l.Title) + " …"}), guarded(func() tea.Msg {
		p, err := plan(l)
		return lessonReady{p, err}
	}))
}

// lessonOpened shows the lesson that was made ready.
func (m *model) lessonOpened(msg lessonReady) tea.Cmd {
	if msg.err != nil {
		return m.tell(notice{msg.err.Error(), true})
	}
	m.stop()
	m.notice = notice{}
	m.show(msg.plan.Open(m.lesson.options.Session))
	step := 0
	if s := m.lesson.standings[msg.plan.Lesson.Name]; !s.Done {
		step = s.Step
	}
	taught := m.teach(msg.plan, step)
	return tea.Batch(m.start(), taught)
}

// nextLesson opens the lesson behind this one.
func (m *model) nextLesson() tea.Cmd {
	all := m.lesson.options.Lessons
	for i, l := range all {
		if l.Name == m.lesson.plan.Lesson.Name && i+1 < len(all) {
			return m.openLesson(all[i+1])
		}
	}
	return m.tell(notice{text: "this was the last lesson: q leaves, r chooses another"})
}

// answerName is an answer as it is shown.
func answerName(a lessons.Answer) string {
	if a.Tier() != queue.None {
		return lessonTiers[a.Tier()].name
	}
	return string(a.Text)
}

// lessonTiers are what the tiers are called as answers, and the keys that choose them: their panes'.
var lessonTiers = map[queue.Tier]struct{ key, name string }{
	queue.Active: {"1", "activeQ"}, queue.Backoff: {"2", "backoffQ"}, queue.Unschedulable: {"3", "unschedulable"},
	queue.InFlight: {"4", "in flight"}, queue.Scheduled: {"5", "bound"}, queue.Gated: {"6", "gated"}, queue.Deleted: {"7", "gone"},
}

// second is that a second has passed: the timer shows it.
type second time.Time

// tick shows how late it is.
func (m *model) tick(now second) tea.Cmd {
	m.lesson.now = time.Time(now)
	return everySecond()
}

func everySecond() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return second(t) })
}
