package room

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Prediction is a visitor's answer to a question, given before the lesson's scenario continues.
type Prediction struct {
	// Lesson, Step and Question identify the question. Question is also its text, in a few words.
	Lesson, Step, Question string
	// Answers are the possible answers, 1 to 9.
	Answers []string
	// Answer is the index of the given answer, Right that of the right one.
	Answer, Right int
}

// Limits of what the room keeps about predictions.
const (
	maxAnswers   = 9
	maxQuestions = 500
	maxGiven     = 1000 // answers to a question, many times a room's seats
	maxText      = 120  // cells
)

// RecordPrediction records the visitor's answer. A new answer to the same question replaces the
// previous one, also after a reconnect. Invalid predictions and those of teachers are ignored.
func (v *Visitor) RecordPrediction(p Prediction) {
	n := len(p.Answers)
	if n == 0 || n > maxAnswers || p.Answer < 0 || p.Answer >= n || p.Right < 0 || p.Right >= n || v.teacher {
		return
	}
	key := question{cleanText(p.Lesson), cleanText(p.Step), cleanText(p.Question)}
	v.room.update(func(r *Room) {
		q := r.polls[key]
		switch {
		case q == nil && len(r.polls) >= maxQuestions:
			return
		case q == nil:
			q = &poll{right: p.Right, given: make(map[string]int)}
			for _, a := range p.Answers {
				q.answers = append(q.answers, cleanText(a))
			}
			r.polls[key] = q
		case len(q.answers) != n:
			return // a different version of the lesson
		}
		if _, again := q.given[v.name]; !again && len(q.given) >= maxGiven {
			return
		}
		r.sequence++
		q.updated = r.sequence
		q.given[v.name] = p.Answer
		r.tallies = r.polls.tallies()
	})
}

// SetPlace records the visitor's lesson and step, in a few words, for the teacher's list.
func (v *Visitor) SetPlace(place string) {
	place = cleanText(place)
	v.room.update(func(*Room) { v.place = place })
}

// cleanText makes text safe to print on one line.
func cleanText(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return ansi.Truncate(strings.TrimSpace(text), maxText, "…")
}

type question struct{ lesson, step, text string }

// poll holds the answers to one question.
type poll struct {
	answers []string
	right   int
	given   map[string]int // by visitor name; never shown
	updated uint64         // the Room.sequence of the last answer
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

// wrong returns the number of wrong answers.
func (t tally) wrong() int { return t.total - t.counts[t.right] }

// tallies returns all polls, the last answered first.
func (p polls) tallies() []tally {
	keys := slices.SortedFunc(maps.Keys(p), func(a, b question) int { return int(int64(p[b].updated - p[a].updated)) })
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
