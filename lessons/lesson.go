// Package lessons contains the lessons of schedq, and the code that parses and checks them. A
// lesson is a scenario with steps. A step explains something, asks for a prediction before time
// goes on, or sets a goal that the learner reaches by injecting cluster events. docs/use/lessons.md describes the
// format.
//
// Check plays a lesson: it finds the moments of its steps, compares its predictions with the local
// scheduler, and runs its solutions.
package lessons

import (
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// Lesson is a parsed lesson file. It is immutable.
type Lesson struct {
	// File is the file's name in errors.
	File string
	// Name identifies the lesson, Title is shown.
	Name  string
	Title sources.SafeText
	// Misconception is what people get wrong, Behaviour the correction.
	Misconception, Behaviour sources.SafeText
	// Holds names the releases the lesson applies to. The lesson runs under the rules of
	// Scenario.Release.
	Holds sources.SafeText
	// Because says why the lesson runs under an older release than the newest. Empty otherwise.
	Because sources.SafeText
	// Scenario is the story. For a lesson on a recording it has no objects, only start, length and
	// release. Recorded then names the recording: a built-in one, or a file in the lesson's folder.
	Scenario *scenario.Scenario
	Recorded string
	// Claims are about the head of the lesson.
	Claims []Claim
	Steps  []Step
	// Planned is the duration planned by the course, 0 outside of a course.
	Planned time.Duration

	path string // of the file
	own  bool   // built in
}

// Path returns the absolute path of the lesson's file, or "" for a built-in lesson.
func (l *Lesson) Path() string {
	if l.own {
		return ""
	}
	path, err := filepath.Abs(l.path)
	if err != nil {
		return l.path // the working directory was deleted
	}
	return path
}

// Step is one screen of a lesson. It has a Prediction, a Goal or neither.
type Step struct {
	// Line is its line in the file.
	Line int
	// Title and Text are shown to the learner, Notes only to the speaker.
	Title, Text, Notes sources.SafeText
	// At is the step's moment, since the start of the scenario. If negative, Until is used, or else
	// the end of the previous step.
	At    time.Duration
	Until Move
	// Look is the pod to select. Its Name may be empty.
	Look       types.NamespacedName
	Prediction *Prediction
	Goal       *Goal
	// Claims are about what the step says.
	Claims []Claim
}

// Move is a condition to wait for, in the syntax of docs/reference/filter.md. The zero value is
// none.
type Move struct {
	text      string
	condition board.Condition
	line      int
}

// Prediction asks what happens next, and shows whether the answer was right once time has gone on.
// A finding asks about the past.
type Prediction struct {
	Line int
	// Finding is true for a question that is answered by looking around, while time stands still.
	// Shows is then the moment since the start that shows the answer; if negative, the step's own.
	Finding bool
	Shows   time.Duration
	// Pod is the pod in question.
	Pod types.NamespacedName
	// Time goes on until the move Until, or for After. With neither, it goes on to the next move of
	// Pod.
	Until Move
	After time.Duration
	// Asks are the questions, in order.
	Asks []Ask
}

// Kind is the kind of a question.
type Kind string

// The kinds of questions.
const (
	// AskQueue asks for the tier of the pod at the end.
	AskQueue Kind = "queue"
	// AskWhen asks how long it takes until the end.
	AskWhen Kind = "when"
	// AskBackoff asks for the length of the pod's backoff, from its last failure.
	AskBackoff Kind = "backoff"
	// AskWhich asks which pod moves.
	AskWhich Kind = "which"
	// AskWoken asks how many pods an event or a flush moves out of the unschedulable pods until the
	// end.
	AskWoken Kind = "woken"
	// AskAttempts asks for the pod's number of attempts at the end.
	AskAttempts Kind = "attempts"
	// AskCause asks for a reason, in a finding. The answers are sentences.
	AskCause Kind = "cause"
	// AskPlugin asks which plugin last rejected the pod, in a finding.
	AskPlugin Kind = "plugin"
	// AskEvent asks which event moved the pod out of the unschedulable and gated pods most often,
	// in a finding.
	AskEvent Kind = "event"
)

// Ask is one question.
type Ask struct {
	Kind     Kind
	Question sources.SafeText
	Answers  []Answer
}

// Right returns the index of the right answer.
func (a Ask) Right() int {
	for i, answer := range a.Answers {
		if answer.Right {
			return i
		}
	}
	return 0
}

// Answer is one choice.
type Answer struct {
	Line int
	// Text is the choice: a tier, a time, a pod, a number.
	Text sources.SafeText
	// Right is true for exactly one answer.
	Right bool
	// Says names the misconception behind the answer, or why it is right.
	Says sources.SafeText

	tier   queue.Tier
	time   time.Duration
	number int
}

// Tier returns the tier of an answer to AskQueue.
func (a Answer) Tier() queue.Tier { return a.tier }

// Goal is reached in a what-if by injecting.
type Goal struct {
	Line int
	// Pod must enter Tier, by the event By unless By is empty.
	Pod  types.NamespacedName
	Tier queue.Tier
	By   string
	// Without lists events that must not move any pod.
	Without []string
	// Person is true if the learner makes the scheduling decisions. Otherwise a local scheduler
	// does.
	Person bool
	// Hints give more and more help. Solution is one way to the goal.
	Hints    []sources.SafeText
	Solution []Action
}

// Action is one injection of a solution.
type Action struct {
	Line int
	// Text is the action as written.
	Text string
	// Verb is the first word, Words are the others.
	Verb  string
	Words []string

	objects []runtime.Object
}

// Under returns the release the lesson runs under and why it is not the newest. Empty for the
// newest release.
func (l *Lesson) Under() string {
	if l.Because == "" {
		return ""
	}
	return "Under " + l.Scenario.Release + ": " + string(l.Because) + "."
}

// said returns all texts of the step, for learners and for the speaker.
func (s *Step) said() []sources.SafeText {
	all := []sources.SafeText{s.Text, s.Notes}
	if p := s.Prediction; p != nil {
		for _, a := range p.Asks {
			all = append(all, a.Question)
			for _, answer := range a.Answers {
				all = append(all, answer.Says)
			}
		}
	}
	if s.Goal != nil {
		all = append(all, s.Goal.Hints...)
	}
	return all
}

// said returns the texts of the lesson's head that claims may quote.
func (l *Lesson) said() []sources.SafeText {
	return []sources.SafeText{l.Behaviour, l.Holds, l.Because}
}

// errorf returns an error about a line of the lesson's file.
func (l *Lesson) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", l.File, line, fmt.Errorf(format, args...))
}
