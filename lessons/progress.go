package lessons

import "github.com/schedq/schedq/sources"

// Standing is how far somebody has come in a lesson.
type Standing struct {
	// Step is the step at which the lesson was left, from 0. Done is true once the last one was reached.
	Step int  `json:"step"`
	Done bool `json:"done,omitempty"`
	// Asked counts the questions answered when the lesson was done last, and Right the right answers.
	Asked int `json:"asked,omitempty"`
	Right int `json:"right,omitempty"`
	// Missed are the questions that were answered wrongly at first.
	Missed []Missed `json:"missed,omitempty"`
}

// Missed is a question that was answered wrongly: the number of its step and its own there, both from 0.
type Missed struct {
	Step int `json:"step"`
	Ask  int `json:"ask"`
}

// Question is what m asked in l, or empty if there is no such question there.
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

// Progress keeps how far somebody has come. Its methods are called outside of the screen's own goroutine.
type Progress interface {
	// Recall returns the standings, by the lessons' names.
	Recall() map[string]Standing
	// Keep remembers one.
	Keep(lesson string, s Standing) error
}

// Forgotten is the progress of somebody of whom nothing is kept.
type Forgotten struct{}

// Recall implements Progress.
func (Forgotten) Recall() map[string]Standing { return nil }

// Keep implements Progress.
func (Forgotten) Keep(string, Standing) error { return nil }

// Given is an answer that somebody gave to a prediction's question.
type Given struct {
	// Lesson, Step and Question tell which question it is.
	Lesson, Step, Question string
	// Answers are all that could be given. Answer is the one that was, Right the right one, as indexes.
	Answers       []string
	Answer, Right int
}

// Stage is where a lesson is, for those who follow.
type Stage struct {
	Lesson string `json:"lesson"`
	Step   int    `json:"step"`
}
