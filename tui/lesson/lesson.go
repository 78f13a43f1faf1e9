package lesson

import (
	"fmt"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/page"
)

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

// Options say what a lesson has to do with the world. The zero value will do: then it has nothing to do with it.
type Options struct {
	// Session are the lesson's session's options: see lessons.Options.
	Session timeline.Options
	// Lessons are those that the person can switch to, in their order, and Plan makes one ready. It is called
	// outside of the screen's own goroutine.
	Lessons []*lessons.Lesson
	Plan    func(*lessons.Lesson) (*lessons.Plan, error)
	// Step is the step that is shown first.
	Step int
	// Standings are those of the lessons so far, and Progress keeps them. Nil: they are not kept.
	Standings map[string]lessons.Standing
	Progress  lessons.Progress
	// At is told where the person is, in a few words; Predicted each answer that they give; Stage each step. They
	// are called outside of the screen's own goroutine, and may be nil.
	At        func(place string)
	Predicted func(lessons.Given)
	Stage     func(lessons.Stage)
}

// Lesson is the page of a lesson below the board.
type Lesson struct {
	*board.Board
	options   Options
	standings map[string]lessons.Standing
	// show shows another session in the place of the one that is shown.
	show func(*session.Session) tea.Cmd

	plan  *lessons.Plan
	step  int
	phase phase
	// visits counts the steps that were gone to.
	visits int
	given  []int // the answers to the questions of the step so far
	urged  bool  // the person was told that another question is open
	goal   goal
	score  score
	Blank  bool
	above  int // the lines that the board has
	// seen is where the lesson's pod was when its pane was shown last.
	seen queue.Tier
}

// goal is how the goal of a step stands.
type goal struct {
	// attempt is nil until it has begun; why is why it is not reached although its pod moved.
	attempt *lessons.Attempt
	why     string
	// hints is how many were given, solution whether it is shown.
	hints    int
	solution bool
}

// score is what came of a lesson so far.
type score struct {
	began, now time.Time
	// given are the answers to the questions of each step, by its number: the first to each, for behind it one knows better.
	given map[int][]int
}

// counts are how many questions the lesson has, how many were answered, how many of these rightly, and which were not.
func (l *Lesson) counts() (asked, answered, right int, missed []lessons.Missed) {
	for i, s := range l.plan.Lesson.Steps {
		if s.Prediction == nil {
			continue
		}
		asked += len(s.Prediction.Asks)
		for k, given := range l.score.given[i] {
			if given != noAnswer {
				answered++
			}
			switch given {
			case noAnswer:
			case s.Prediction.Asks[k].Right():
				right++
			default:
				missed = append(missed, lessons.Missed{Step: i, Ask: k})
			}
		}
	}
	return asked, answered, right, missed
}

// count takes what was answered to the questions of the step, and noAnswer for those that were left open.
func (l *Lesson) count() {
	for len(l.given) < len(l.current().Prediction.Asks) {
		l.given = append(l.given, noAnswer)
	}
	if l.score.given[l.step] == nil {
		l.score.given[l.step] = slices.Clone(l.given)
	}
	for i, given := range l.score.given[l.step] {
		if given == noAnswer {
			l.score.given[l.step][i] = l.given[i]
		}
	}
}

// New returns the lesson of plan, whose session is on b's desk. show shows another one.
func New(b *board.Board, plan *lessons.Plan, o Options, show func(*session.Session) tea.Cmd) *Lesson {
	l := &Lesson{Board: b, plan: plan, options: o, standings: map[string]lessons.Standing{}, show: show}
	maps.Copy(l.standings, o.Standings)
	if l.options.Progress == nil {
		l.options.Progress = lessons.NoProgress{}
	}
	return l
}

// Begin begins with the first step that is shown, when the program starts.
func (l *Lesson) Begin() tea.Cmd { return tea.Batch(l.teach(l.plan, l.options.Step), l.clock()) }

// current is the step that is shown.
func (l *Lesson) current() *lessons.Step { return &l.plan.Lesson.Steps[l.step] }

// teach begins with a lesson, which the session that is shown plays, at a step.
func (l *Lesson) teach(plan *lessons.Plan, step int) tea.Cmd {
	l.plan, l.score = plan, score{began: time.Now(), now: time.Now(), given: map[int][]int{}}
	return l.toStep(min(max(step, 0), len(plan.Steps)-1))
}

// toStep shows a step from its beginning.
func (l *Lesson) toStep(i int) tea.Cmd {
	l.leaveGoal()
	l.Session.Pause()
	l.Session.SetSpeed(1)
	l.step, l.phase, l.given, l.urged, l.seen = i, reading, nil, false, queue.None
	l.goal = goal{}
	s := l.current()
	l.plan.Steps[i].From.GoTo(l.Session, l.plan.Lesson.Scenario.Start)
	if s.Look.Name != "" {
		l.Selected = page.Selection{Key: s.Look, Any: true}
	}
	l.Pages.Clear()
	l.visits++
	switch {
	case s.Prediction != nil && !s.Prediction.Finding: // what is to be found is looked for first
		l.phase = asking
	case s.Goal != nil:
		l.phase = trying
		return tea.Batch(l.keepStanding(), l.beginGoal())
	}
	return l.keepStanding()
}

// beginGoal begins with the goal of the step once the session has gone to where it begins, which may take some time,
// unless the person has gone on.
func (l *Lesson) beginGoal() tea.Cmd {
	s, visit := l.Session, l.visits
	return page.Guarded(func() tea.Msg {
		s.Sync()
		return page.Ready(func() tea.Cmd {
			if visit == l.visits {
				l.current().Goal.Begin(l.Session)
			}
			return nil
		})
	})
}

// leaveGoal closes the what-if of a goal.
func (l *Lesson) leaveGoal() {
	if l.Frame.Fork != nil {
		l.Session.CloseFork(l.Frame.Fork.ID)
	}
}

// leaveWhatIf goes back to the story, which is what was asked about, from a what-if of the person's own.
func (l *Lesson) leaveWhatIf() {
	if l.Frame.Fork != nil {
		l.Session.LeaveFork()
	}
}

// nextStep goes on.
func (l *Lesson) nextStep() tea.Cmd {
	switch {
	case l.phase == reading && l.current().Prediction != nil:
		l.phase = asking
		return nil
	case l.phase == asking && l.halfAnswered() && !l.urged:
		l.urged = true
		return l.Refuse(l.Keys.Say("there is another question: answer it, or {lesson-next} goes on without it"))
	case l.phase == asking:
		return l.goOn()
	case l.phase == going:
		l.arrive()
		return nil
	case l.phase == over:
		return l.nextLesson()
	case l.step == len(l.plan.Steps)-1:
		l.leaveGoal()
		l.visits++
		l.phase = over
		return l.keepStanding()
	}
	return l.toStep(l.step + 1)
}

// stepBack goes to the step before, or takes back what was answered last while that can be changed.
func (l *Lesson) stepBack() tea.Cmd {
	switch {
	case l.phase == over:
		return l.toStep(l.step)
	case l.phase == asking && len(l.given) > 0:
		l.given = l.given[:len(l.given)-1]
		return nil
	case l.phase == asking && l.current().Prediction.Finding: // to look around once more
		l.phase = reading
		return nil
	}
	return l.toStep(max(l.step-1, 0))
}

// halfAnswered reports whether some questions of the current prediction are answered and some are not: who answered one may
// not have seen that there is another.
func (l *Lesson) halfAnswered() bool {
	return len(l.given) > 0 && len(l.given) < len(l.current().Prediction.Asks)
}

// openQuestion returns the question of the current prediction that is to be answered next or, once all are, the last.
func (l *Lesson) openQuestion() *lessons.Ask {
	asks := l.current().Prediction.Asks
	return &asks[min(len(l.given), len(asks)-1)]
}

// giveAnswer takes the answer of that index to the question that is open. Until time goes on it can be changed.
func (l *Lesson) giveAnswer(i int) tea.Cmd {
	given := l.ask(l.openQuestion())
	given.Answer = i
	if len(l.given) == len(l.current().Prediction.Asks) {
		l.given = l.given[:len(l.given)-1]
	}
	l.given = append(l.given, i)
	tellOf := l.options.Predicted
	if tellOf == nil {
		return nil
	}
	return page.Guarded(func() tea.Msg { tellOf(given); return nil })
}

// ask is a question of the current step, not answered yet.
func (l *Lesson) ask(a *lessons.Ask) lessons.Given {
	asked := lessons.Given{Lesson: string(l.plan.Lesson.Title), Step: string(l.current().Title), Question: string(a.Question), Answer: noAnswer, Right: a.Right()}
	for _, answer := range a.Answers {
		asked.Answers = append(asked.Answers, answerName(answer))
	}
	return asked
}

// showing is for how long what comes is shown coming, in real time.
const showing = 2 * time.Second

// goOn lets time pass up to what was asked about. Questions that are left open stay so.
func (l *Lesson) goOn() tea.Cmd {
	l.count()
	l.phase = going
	l.leaveWhatIf()
	planned := l.plan.Steps[l.step]
	d := planned.To.At - planned.From.At
	if d < 200*time.Millisecond {
		l.arrive()
		return nil
	}
	planned.From.GoTo(l.Session, l.plan.Lesson.Scenario.Start) // wherever the person has gone
	l.Session.SetSpeed(max(1, float64(d)/float64(showing)))
	l.Session.Play()
	return nil
}

// arrive shows what was asked about.
func (l *Lesson) arrive() {
	l.phase = told
	l.Session.Pause()
	l.Session.SetSpeed(1)
	l.leaveWhatIf()
	l.plan.Steps[l.step].To.GoTo(l.Session, l.plan.Lesson.Scenario.Start)
}

// Learned takes in a new frame: whether time has come to what was asked about, and whether a goal is reached.
func (l *Lesson) Learned() {
	f := l.Frame
	if p := l.Pod(); p != nil && p.Listed() != l.seen {
		l.seen = p.Listed()
		l.ShowPane(l.seen)
	}
	switch l.phase {
	case going:
		to := l.plan.Lesson.Scenario.Start.Add(l.plan.Steps[l.step].To.At)
		lead := time.Duration(f.Speed * float64(2*session.FrameInterval))
		if to.Sub(f.Now) <= lead || f.AtEnd {
			l.arrive()
		}
	case trying, reached:
		g := l.current().Goal
		if f.Fork == nil {
			l.goal.attempt = nil
			return
		}
		if l.goal.attempt == nil && !g.Person && !f.Fork.Scheduling {
			return
		}
		if l.goal.attempt == nil {
			l.goal.attempt = &lessons.Attempt{Moves: f.Log.Len()}
		}
		done, why := g.Reached(f, *l.goal.attempt)
		l.phase, l.goal.why = trying, why
		if done {
			l.phase = reached
		}
	}
}

// keepStanding keeps where the person is, and tells of it.
func (l *Lesson) keepStanding() tea.Cmd {
	name := l.plan.Lesson.Name
	s := l.standings[name]
	s.Step = l.step
	if l.phase == over {
		_, answered, right, missed := l.counts()
		s = lessons.Standing{Done: true, Asked: answered, Right: right, Missed: missed}
	}
	l.standings[name] = s
	progress, at, stage := l.options.Progress, l.options.At, l.options.Stage
	place := fmt.Sprintf("%s, step %d of %d", l.plan.Lesson.Title, l.step+1, len(l.plan.Steps))
	shown := lessons.Stage{Lesson: name, Step: l.step}
	return page.Guarded(func() tea.Msg {
		err := progress.Keep(name, s)
		if at != nil {
			at(place)
		}
		if stage != nil {
			stage(shown)
		}
		if err != nil {
			return page.Ready(func() tea.Cmd { return l.Refuse(err.Error()) })
		}
		return nil
	})
}

// openLesson makes another lesson ready and shows it.
func (l *Lesson) openLesson(other *lessons.Lesson) tea.Cmd {
	plan := l.options.Plan
	return tea.Batch(l.Answer("opening "+string(other.Title)+" …"), page.Guarded(func() tea.Msg {
		p, err := plan(other)
		return page.Ready(func() tea.Cmd { return l.opened(p, err) })
	}))
}

// opened shows the lesson that was made ready, or says why it could not be.
func (l *Lesson) opened(plan *lessons.Plan, err error) tea.Cmd {
	if err != nil {
		return l.Refuse(err.Error())
	}
	started := l.show(plan.Open(l.options.Session))
	step := 0
	if s := l.standings[plan.Lesson.Name]; !s.Done {
		step = s.Step
	}
	return tea.Batch(started, l.teach(plan, step))
}

// nextLesson opens the lesson behind this one.
func (l *Lesson) nextLesson() tea.Cmd {
	all := l.options.Lessons
	for i, each := range all {
		if each.Name == l.plan.Lesson.Name && i+1 < len(all) {
			return l.openLesson(all[i+1])
		}
	}
	return l.Answer(l.Keys.Say("this was the last lesson: {quit} leaves, {lessons} chooses another"))
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
	queue.InFlight: {"4", "in-flight"}, queue.Scheduled: {"5", "bound"}, queue.Gated: {"6", "gated"}, queue.Deleted: {"7", "deleted"},
}

// clock shows each second how late it is.
func (l *Lesson) clock() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg {
		return page.Ready(func() tea.Cmd {
			l.score.now = t
			return l.clock()
		})
	})
}
