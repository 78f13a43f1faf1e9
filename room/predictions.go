package room

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Prediction is what somebody guesses before a lesson's scenario goes on.
type Prediction struct {
	// Lesson, Step and Question tell which one it is: the same for all who are asked the same. Question is also
	// what is asked, in a few words.
	Lesson, Step, Question string
	// Answers are all that can be given, in their order: 1 to 9.
	Answers []string
	// Answer is the one given and Right the right one, as indexes of Answers.
	Answer, Right int
}

// The most that the room keeps.
const (
	maxAnswers   = 9
	maxQuestions = 500
	maxWords     = 120 // cells
)

// Predicted tells the room what the visitor predicts. Who predicts the same thing anew changes their mind, also after a
// lost connection. A prediction that makes no sense is left out.
func (v *Visitor) Predicted(p Prediction) {
	n := len(p.Answers)
	if n == 0 || n > maxAnswers || p.Answer < 0 || p.Answer >= n || p.Right < 0 || p.Right >= n || v.teacher {
		return
	}
	key := question{words(p.Lesson), words(p.Step), words(p.Question)}
	v.room.change(func(r *Room) {
		q := r.polls[key]
		switch {
		case q == nil && len(r.polls) >= maxQuestions:
			return
		case q == nil:
			q = &poll{right: p.Right, given: make(map[string]int)}
			for _, a := range p.Answers {
				q.answers = append(q.answers, words(a))
			}
			r.polls[key] = q
		case len(q.answers) != n:
			return // another edition of the lesson
		}
		r.arrivals++
		q.asked = r.arrivals
		q.given[v.name] = p.Answer
		r.tallied = r.polls.tallies()
	})
}

// At tells the room where the visitor is: the lesson and the step, in a few words.
func (v *Visitor) At(place string) {
	place = words(place)
	v.room.change(func(*Room) { v.place = place })
}

// words makes text fit for a line of the screen.
func words(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return ansi.Truncate(strings.TrimSpace(text), maxWords, "…")
}

type question struct{ lesson, step, words string }

// poll is what was answered to one question.
type poll struct {
	answers []string
	right   int
	given   map[string]int // by the visitors' names, which nobody is shown
	asked   uint64         // when last, in the order of things
}

type polls map[question]*poll

// tally is a poll without names.
type tally struct {
	question question
	answers  []string
	counts   []int
	total    int
	right    int
}

// wrong is how many gave a wrong answer.
func (t tally) wrong() int { return t.total - t.counts[t.right] }

// tallies returns all polls, the one that was answered last first.
func (p polls) tallies() []tally {
	keys := slices.SortedFunc(maps.Keys(p), func(a, b question) int { return int(int64(p[b].asked - p[a].asked)) })
	all := make([]tally, 0, len(keys))
	for _, k := range keys {
		t := tally{question: k, answers: p[k].answers, counts: make([]int, len(p[k].answers)), total: len(p[k].given), right: p[k].right}
		for _, answer := range p[k].given {
			t.counts[answer]++
		}
		all = append(all, t)
	}
	return all
}
