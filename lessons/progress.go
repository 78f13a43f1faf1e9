package lessons

import "github.com/schedq/schedq/sources"

// Standing is a learner's progress in a lesson.
type Standing struct {
	// Step is the index of the step where the learner left. Done is true once the last step was
	// reached.
	Step int  `json:"step"`
	Done bool `json:"done,omitempty"`
	// Asked is the number of questions answered in the last completed run, Right the number of
	// right answers.
	Asked int `json:"asked,omitempty"`
	Right int `json:"right,omitempty"`
	// Missed are the questions whose first answer was wrong.
	Missed []Missed `json:"missed,omitempty"`
}

// Missed identifies a question with a wrong first answer: the index of its step, and its index in
// the step.
type Missed struct {
	Step int `json:"step"`
	Ask  int `json:"ask"`
}

// Question returns the question in l, or "" if l has no such question.
func (m Missed) Question(l *Lesson) sources.SafeText {
	if m.Step < 0 || m.Step >= len(l.Steps) || l.Steps[m.Step].Prediction == nil {
		return ""
	}
	asks := l.Steps[m.Step].Prediction.Asks
	if m.Ask < 0 || m.Ask >= len(asks) {
		return ""
	}
	return asks[m.Ask].Question
}

// Progress stores learners' progress. Its methods are called outside the screen's goroutine.
type Progress interface {
	// Recall returns the standings by lesson name.
	Recall() map[string]Standing
	// Keep stores the standing of a lesson.
	Keep(lesson string, s Standing) error
}

// NoProgress stores nothing.
type NoProgress struct{}

// Recall implements Progress.
func (NoProgress) Recall() map[string]Standing { return nil }

// Keep implements Progress.
func (NoProgress) Keep(string, Standing) error { return nil }

// Given is a learner's answer to a question.
type Given struct {
	// Lesson, Step and Question identify the question.
	Lesson, Step, Question string
	// Answers are all choices. Answer is the index of the given one, Right of the right one.
	Answers       []string
	Answer, Right int
}

// Stage is the current place in a lesson, for followers.
type Stage struct {
	Lesson string `json:"lesson"`
	Step   int    `json:"step"`
}
