// Package lessons holds what schedq teaches: lessons of a scenario and of steps that are gone through with it.
// A step tells something, asks for a prediction before time goes on, or sets a goal that is reached by
// injecting. docs/use/lessons.md says how one is written.
//
// A lesson is checked by being played: Check finds the moments of its steps, has the local scheduler answer its
// predictions, and does what its author gives as solutions.
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

// Lesson is what one file says. It is never modified.
type Lesson struct {
	// File is what the file is called in errors.
	File string
	// Name is what the lesson is called by, Title what it is about.
	Name  string
	Title sources.SafeText
	// Misconception is what people get wrong, Behaviour what corrects it.
	Misconception, Behaviour sources.SafeText
	// Holds says for which releases that is so. The lesson runs by the rules of Scenario.Release.
	Holds sources.SafeText
	// Because says why the lesson runs by the rules of an older release than the newest. It is empty of one that does not.
	Because sources.SafeText
	// Scenario is the story and how it is played. Of a lesson on a recording it has no objects, only the start, the length and
	// the release; then Recorded names the recording: one of the program's own, or a file beside the lesson's.
	Scenario *scenario.Scenario
	Recorded string
	// Claims are about what is said of the lesson as a whole.
	Claims []Claim
	Steps  []Step
	// Planned is how long it is to take, by the course that it is part of. 0: no course says.
	Planned time.Duration

	path string // of the file
	own  bool   // the file is inside this program
}

// Path is the absolute path of the lesson's file, or empty if that is inside this program.
func (l *Lesson) Path() string {
	if l.own {
		return ""
	}
	path, err := filepath.Abs(l.path)
	if err != nil {
		return l.path // the current folder is gone
	}
	return path
}

// Step is one screen of a lesson. It has a Prediction, a Goal or neither.
type Step struct {
	// Line is where it stands in the file.
	Line int
	// Title and Text are what is said, Notes what only the speaker sees.
	Title, Text, Notes sources.SafeText
	// At is the moment that it shows, from the start of the scenario on. Negative: Until, or else where the step
	// before ended.
	At    time.Duration
	Until Move
	// Look is the pod that is selected. Its Name may be empty.
	Look       types.NamespacedName
	Prediction *Prediction
	Goal       *Goal
	// Claims are about what the step says.
	Claims []Claim
}

// Move is what is waited for: a condition as docs/reference/filter.md describes it. The zero value is nothing.
type Move struct {
	text      string
	condition board.Condition
	line      int
}

// Prediction asks what comes next, and when time has gone on says whether that was right. A finding asks what has come.
type Prediction struct {
	Line int
	// Finding is true if it asks for what is found by looking around, and no time goes on. Shows is then the moment, from the
	// start on, at which it can be seen; negative: where the step begins.
	Finding bool
	Shows   time.Duration
	// Pod is whom it is about.
	Pod types.NamespacedName
	// Until ends the time that goes on, or After it has. Without either it is the next move of Pod.
	Until Move
	After time.Duration
	// Asks are the questions, one after the other.
	Asks []Ask
}

// Kind is what a question is about.
type Kind string

// The kinds of questions.
const (
	// AskQueue asks in which tier the pod is then.
	AskQueue Kind = "queue"
	// AskWhen asks how long that takes.
	AskWhen Kind = "when"
	// AskBackoff asks how long the pod's backoff is, from its last failure on.
	AskBackoff Kind = "backoff"
	// AskWhich asks which pod it is that moves.
	AskWhich Kind = "which"
	// AskWoken asks how many pods an event or a flush takes out of the unschedulable ones until then.
	AskWoken Kind = "woken"
	// AskAttempts asks how many attempts the pod has had then.
	AskAttempts Kind = "attempts"
	// AskCause asks why something is as it is, of a finding: the answers are sentences.
	AskCause Kind = "cause"
	// AskPlugin asks which plugin rejected the pod last, of a finding.
	AskPlugin Kind = "plugin"
	// AskEvent asks which event took the pod out of the unschedulable and the gated ones most often, of a finding.
	AskEvent Kind = "event"
)

// Ask is one question.
type Ask struct {
	Kind     Kind
	Question sources.SafeText
	Answers  []Answer
}

// Right is the index of the right answer.
func (a Ask) Right() int {
	for i, answer := range a.Answers {
		if answer.Right {
			return i
		}
	}
	return 0
}

// Answer is one that can be chosen.
type Answer struct {
	Line int
	// Text is what is chosen: a tier, a time, a pod, a number.
	Text sources.SafeText
	// Right is true for exactly one.
	Right bool
	// Says names the misconception behind it, or why it is right.
	Says sources.SafeText

	tier   queue.Tier
	time   time.Duration
	number int
}

// Tier is the tier that is the answer to AskQueue.
func (a Answer) Tier() queue.Tier { return a.tier }

// Goal is reached in a what-if by injecting.
type Goal struct {
	Line int
	// Pod is to enter Tier, by the event By unless that is empty.
	Pod  types.NamespacedName
	Tier queue.Tier
	By   string
	// Without are events that may not have moved any pod.
	Without []string
	// Person is true if the learner is the scheduler in the what-if. Otherwise a local one decides.
	Person bool
	// Hints say more and more, Solution is one way.
	Hints    []sources.SafeText
	Solution []Deed
}

// Deed is something that is injected.
type Deed struct {
	Line int
	// Text is how it is written.
	Text string
	// Verb is its first word, Words those that follow.
	Verb  string
	Words []string

	objects []runtime.Object
}

// Under says under which release the lesson runs, and why under an older one than the newest. It is empty if it does not.
func (l *Lesson) Under() string {
	if l.Because == "" {
		return ""
	}
	return "Under " + l.Scenario.Release + ": " + string(l.Because) + "."
}

// said is all that the step says to those who learn, and to the speaker.
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

// said is all that is said of the lesson as a whole.
func (l *Lesson) said() []sources.SafeText {
	return []sources.SafeText{l.Behaviour, l.Holds, l.Because}
}

// errorf is an error about a line of the lesson's file.
func (l *Lesson) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", l.File, line, fmt.Errorf(format, args...))
}
