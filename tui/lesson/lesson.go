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

// phase is the state of a step.
type phase uint8

const (
	// reading: the text is shown.
	reading phase = iota
	// asking: a question is open.
	asking
	// playing: time runs up to the moment of the question.
	playing
	// judged: the answers are judged.
	judged
	// trying: the goal is not reached yet.
	trying
	// reached: the goal is reached.
	reached
	// finished: the lesson is finished.
	finished
)

// noAnswer stands for a missing answer.
const noAnswer = -1

// Options are the options of a lesson. The zero value is a lesson without progress and without other lessons.
type Options struct {
	// Session are the options of the lesson's session: see lessons.Options.
	Session timeline.Options
	// Lessons are the other lessons in their order. Plan prepares one of them, outside of Update.
	Lessons []*lessons.Lesson
	Plan    func(*lessons.Lesson) (*lessons.Plan, error)
	// Step is the first step shown.
	Step int
	// Standings are the progress so far, which Progress saves. Nil: progress is not saved.
	Standings map[string]lessons.Standing
	Progress  lessons.Progress
	// At is called with the user's place in words, Predicted with each answer, Stage with each step, all outside of Update. Each may
	// be nil.
	At        func(place string)
	Predicted func(lessons.Given)
	Stage     func(lessons.Stage)
}

// Lesson is the page of a lesson below the board.
type Lesson struct {
	*board.Board
	options   Options
	standings map[string]lessons.Standing
	// show replaces the session that is shown.
	show func(*session.Session) tea.Cmd

	plan  *lessons.Plan
	step  int
	phase phase
	// visits counts the steps shown.
	visits   int
	given    []int // the answers of this step so far
	reminded bool  // reminded of an unanswered question
	goal     goal
	score    score
	Blank    bool
	above    int // the rows of the board
	// shownTier is the pod's tier when its pane was last shown.
	shownTier queue.Tier
}

// goal is the state of a step's goal.
type goal struct {
	// attempt is nil until the user's attempt starts. why is why the goal is not reached although the pod moved.
	attempt *lessons.Attempt
	why     string
	// hints is the number of hints shown, solution whether the solution is.
	hints    int
	solution bool
}

// score is the result of a lesson so far.
type score struct {
	began, now time.Time
	// given are the first answers to the questions of each step, by its number. Later ones know the result.
	given map[int][]int
}

// counts returns how many questions the lesson has, how many were answered, how many correctly, and which were missed.
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

// count stores the answers of the step, with noAnswer for open questions.
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

// New returns the lesson of plan, whose session is b's. show replaces the session.
func New(b *board.Board, plan *lessons.Plan, o Options, show func(*session.Session) tea.Cmd) *Lesson {
	l := &Lesson{Board: b, plan: plan, options: o, standings: map[string]lessons.Standing{}, show: show}
	maps.Copy(l.standings, o.Standings)
	if l.options.Progress == nil {
		l.options.Progress = lessons.NoProgress{}
	}
	return l
}

// Begin starts the lesson when the program starts.
func (l *Lesson) Begin() tea.Cmd { return tea.Batch(l.teach(l.plan, l.options.Step), l.clock()) }

// current returns the current step.
func (l *Lesson) current() *lessons.Step { return &l.plan.Lesson.Steps[l.step] }

// teach starts a lesson, which the current session plays, at a step.
func (l *Lesson) teach(plan *lessons.Plan, step int) tea.Cmd {
	l.plan, l.score = plan, score{began: time.Now(), now: time.Now(), given: map[int][]int{}}
	return l.toStep(min(max(step, 0), len(plan.Steps)-1))
}

// toStep starts a step.
func (l *Lesson) toStep(i int) tea.Cmd {
	l.leaveGoal()
	l.Session.Pause()
	l.Session.SetSpeed(1)
	l.step, l.phase, l.given, l.reminded, l.shownTier = i, reading, nil, false, queue.None
	l.goal = goal{}
	s := l.current()
	l.plan.Steps[i].From.GoTo(l.Session, l.plan.Lesson.Scenario.Start)
	if s.Look.Name != "" {
		l.Selected = page.Selection{Key: s.Look, Any: true}
	}
	l.Pages.Clear()
	l.visits++
	switch {
	case s.Prediction != nil && !s.Prediction.Finding: // a finding needs a look at the board first
		l.phase = asking
	case s.Goal != nil:
		l.phase = trying
		return tea.Batch(l.keepStanding(), l.beginGoal())
	}
	return l.keepStanding()
}

// beginGoal starts the goal once the session has reached its moment, unless the user has gone on.
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

// leaveWhatIf leaves a what-if that the user made.
func (l *Lesson) leaveWhatIf() {
	if l.Frame.Fork != nil {
		l.Session.LeaveFork()
	}
}

// nextStep handles the key that goes on.
func (l *Lesson) nextStep() tea.Cmd {
	switch {
	case l.lookingAround():
		l.phase = asking
		return nil
	case l.phase == asking && l.halfAnswered() && !l.reminded:
		l.reminded = true
		return l.Refuse(l.Keys.Say("one more question: answer it, or press {lesson-next} to skip it"))
	case l.phase == asking:
		return l.playToResult()
	case l.phase == playing:
		l.showResult()
		return nil
	case l.phase == finished:
		return l.nextLesson()
	case l.step == len(l.plan.Steps)-1:
		l.leaveGoal()
		l.visits++
		l.phase = finished
		return l.keepStanding()
	}
	return l.toStep(l.step + 1)
}

// stepBack goes back one step, or withdraws the last answer while it can be changed.
func (l *Lesson) stepBack() tea.Cmd {
	switch {
	case l.phase == finished:
		return l.toStep(l.step)
	case l.phase == asking && len(l.given) > 0:
		l.given = l.given[:len(l.given)-1]
		return nil
	case l.phase == asking && l.current().Prediction.Finding: // back to the board
		l.phase = reading
		return nil
	}
	return l.toStep(max(l.step-1, 0))
}

// halfAnswered reports whether some but not all questions of the step are answered.
func (l *Lesson) halfAnswered() bool {
	return len(l.given) > 0 && len(l.given) < len(l.current().Prediction.Asks)
}

// openQuestion returns the next question to answer, or the last one once all are answered.
func (l *Lesson) openQuestion() *lessons.Ask {
	asks := l.current().Prediction.Asks
	return &asks[min(len(l.given), len(asks)-1)]
}

// giveAnswer sets the answer to the open question.
func (l *Lesson) giveAnswer(i int) tea.Cmd {
	given := l.ask(l.openQuestion())
	given.Answer = i
	if len(l.given) == len(l.current().Prediction.Asks) {
		l.given = l.given[:len(l.given)-1]
	}
	l.given = append(l.given, i)
	predicted := l.options.Predicted
	if predicted == nil {
		return nil
	}
	return page.Guarded(func() tea.Msg { predicted(given); return nil })
}

// ask returns a question of the current step without an answer.
func (l *Lesson) ask(a *lessons.Ask) lessons.Given {
	asked := lessons.Given{Lesson: string(l.plan.Lesson.Title), Step: string(l.current().Title), Question: string(a.Question), Answer: noAnswer, Right: a.Right()}
	for _, answer := range a.Answers {
		asked.Answers = append(asked.Answers, answerName(answer))
	}
	return asked
}

// showDuration is how long the animation from question to result takes.
const showDuration = 2 * time.Second

// playToResult plays up to the moment of the question. Open questions stay unanswered.
func (l *Lesson) playToResult() tea.Cmd {
	l.count()
	l.phase = playing
	l.leaveWhatIf()
	planned := l.plan.Steps[l.step]
	d := planned.To.At - planned.From.At
	if d < 200*time.Millisecond {
		l.showResult()
		return nil
	}
	planned.From.GoTo(l.Session, l.plan.Lesson.Scenario.Start) // the user may have moved in time
	l.Session.SetSpeed(max(1, float64(d)/float64(showDuration)))
	l.Session.Play()
	return nil
}

// showResult shows the result.
func (l *Lesson) showResult() {
	l.phase = judged
	l.Session.Pause()
	l.Session.SetSpeed(1)
	l.leaveWhatIf()
	l.plan.Steps[l.step].To.GoTo(l.Session, l.plan.Lesson.Scenario.Start)
}

// OnFrame checks each new frame for the end of the animation and for a reached goal.
func (l *Lesson) OnFrame() {
	f := l.Frame
	if p := l.Pod(); p != nil && p.Listed() != l.shownTier {
		l.shownTier = p.Listed()
		l.ShowPane(l.shownTier)
	}
	switch l.phase {
	case playing:
		to := l.plan.Lesson.Scenario.Start.Add(l.plan.Steps[l.step].To.At)
		lead := time.Duration(f.Speed * float64(2*session.FrameInterval))
		if to.Sub(f.Now) <= lead || f.AtEnd {
			l.showResult()
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

// keepStanding saves and reports the user's progress.
func (l *Lesson) keepStanding() tea.Cmd {
	name := l.plan.Lesson.Name
	s := l.standings[name]
	s.Step = l.step
	if l.phase == finished {
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

// openLesson prepares another lesson and shows it.
func (l *Lesson) openLesson(other *lessons.Lesson) tea.Cmd {
	plan := l.options.Plan
	return tea.Batch(l.Answer("opening "+string(other.Title)+" …"), page.Guarded(func() tea.Msg {
		p, err := plan(other)
		return page.Ready(func() tea.Cmd { return l.opened(p, err) })
	}))
}

// opened shows a prepared lesson, or the error.
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

// nextLesson opens the next lesson.
func (l *Lesson) nextLesson() tea.Cmd {
	all := l.options.Lessons
	for i, each := range all {
		if each.Name == l.plan.Lesson.Name && i+1 < len(all) {
			return l.openLesson(all[i+1])
		}
	}
	return l.Answer(l.Keys.Say("this was the last lesson: {quit} quits, {lessons} lists the others"))
}

// answerName returns an answer as shown.
func answerName(a lessons.Answer) string {
	if a.Tier() != queue.None {
		return lessonTiers[a.Tier()].name
	}
	return string(a.Text)
}

// lessonTiers are the names of tiers as answers, and their keys, which are those of the panes.
var lessonTiers = map[queue.Tier]struct{ key, name string }{
	queue.Active: {"1", "activeQ"}, queue.Backoff: {"2", "backoffQ"}, queue.Unschedulable: {"3", "unschedulable"},
	queue.InFlight: {"4", "in-flight"}, queue.Scheduled: {"5", "bound"}, queue.Gated: {"6", "gated"}, queue.Deleted: {"7", "deleted"},
}

// clock updates the time each second.
func (l *Lesson) clock() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg {
		return page.Ready(func() tea.Cmd {
			l.score.now = t
			return l.clock()
		})
	})
}
