package lesson

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
)

// Add adds the actions of a lesson.
func Add(l *Lesson, all page.Actions) {
	all[keymap.LessonNext] = page.Do(l.nextStep).NamedBy(func() string {
		switch {
		case l.phase == asking:
			return "show me"
		case l.lookingAround():
			return "answer"
		}
		return ""
	})
	all[keymap.LessonBack] = page.Do(l.stepBack).DisabledWhen(func() string {
		looked := l.phase == asking && l.current().Prediction.Finding
		if l.step == 0 && l.phase != finished && len(l.given) == 0 && !looked {
			return "this is the first step"
		}
		return ""
	})
	all[keymap.LessonWhy] = page.Do(l.OpenWhy).DisabledWhen(l.NotSelected)
	all[keymap.LessonHint] = page.Command(func() { l.goal.hints, l.goal.solution = l.goal.hints+1, false }).DisabledWhen(func() string {
		switch {
		case l.phase != trying:
			return "hints are for a goal that is not reached yet"
		case l.goal.hints == len(l.current().Goal.Hints):
			return l.Keys.Say("there are no more hints: {lesson-solution} shows the solution")
		}
		return ""
	})
	all[keymap.LessonSolution] = page.Command(func() { l.goal.solution = !l.goal.solution }).DisabledWhen(func() string {
		if l.phase != trying && l.phase != reached {
			return "this step has no goal"
		}
		return ""
	})
	all[keymap.LessonSteps] = page.Do(l.chooseStep)
	all[keymap.LessonRestart] = page.Action{Do: func(string) tea.Cmd { return l.teach(l.plan, 0) }}
	all[keymap.LessonBlank] = page.Command(func() { l.Blank = true })
	all[keymap.Lessons] = page.Do(l.chooseLesson).DisabledWhen(func() string {
		if l.options.Plan == nil || len(l.options.Lessons) == 0 {
			return "there are no other lessons here"
		}
		return ""
	})
	for _, id := range leavesGoal {
		a := all[id]
		all[id] = a.DisabledWhen(func() string {
			if l.current().Goal != nil {
				return l.Keys.Say("reach the goal in this what-if, or press {lesson-next} to skip it")
			}
			return a.Refusal()
		})
	}
	all[keymap.AnswerQueue] = page.Action{Do: l.answer}.DisabledWhen(l.notAsking)
	all[keymap.AnswerChoice] = page.Action{Do: l.answer}.DisabledWhen(l.notAsking)
}

// notAsking returns why no answer can be given now, or "".
func (l *Lesson) notAsking() string {
	if l.phase != asking {
		return l.Keys.Say("already answered: press {lesson-next} to go on")
	}
	return ""
}

// Take implements page.Taker. Any key ends the blank screen. While a question or its result is shown, letters only answer: a
// late answer must not, for example, delete a pod.
func (l *Lesson) Take(key string) (tea.Cmd, bool) {
	if l.Blank {
		l.Blank = false
		return nil, true
	}
	if answer, taken := l.questionKey(key); taken {
		if answer == "" {
			return l.Refuse(cmp.Or(l.notAsking(), l.Keys.Say("answer the question, or press {lesson-next} to see what happens"))), true
		}
		return l.Press(answer, key), true
	}
	if l.answersEarly(key) {
		return l.Refuse(l.Keys.Say("look around first: {lesson-next} shows the answers")), true
	}
	onBoard, known := l.Keys.Lookup(keymap.Board, key)
	b, ok := l.Keys.Lookup(keymap.Lesson, key)
	if ok && b.ID == keymap.LessonBlank && !l.Projector {
		if !known {
			return nil, true
		}
		return l.Press(onBoard.ID, key), true
	}
	return nil, false
}

// questionKey reports whether a question or its result takes the key, and returns the answer action, or "" for a letter that
// answers nothing. Keys of the lesson and of the program keep their meaning.
func (l *Lesson) questionKey(key string) (answer keymap.ID, taken bool) {
	if l.phase != asking && l.phase != playing && l.phase != judged {
		return "", false
	}
	if b, ok := l.Keys.Lookup(keymap.Question, key); ok {
		return b.ID, true
	}
	if letter, size := utf8.DecodeRuneInString(key); size != len(key) || !unicode.IsLetter(letter) {
		return "", false
	}
	_, inLesson := l.Keys.Lookup(keymap.Lesson, key)
	return "", !inLesson && !l.ofProgram(key)
}

// ofProgram reports whether key, or each key that may follow it, is about the program and not about the queue.
func (l *Lesson) ofProgram(key string) bool {
	if words := l.Keys.Words(key); len(words) > 0 {
		return !slices.ContainsFunc(words, func(w keymap.Word) bool { return w.Group != keymap.Program })
	}
	b, ok := l.Keys.Lookup(keymap.Board, key)
	return ok && b.Group == keymap.Program
}

// lookingAround reports whether the step shows the board before its question.
func (l *Lesson) lookingAround() bool { return l.phase == reading && l.current().Prediction != nil }

// answersEarly reports whether key is the letter of an answer that is not shown yet. It does nothing: an early answer must not,
// for example, delete the pod of the question.
func (l *Lesson) answersEarly(key string) bool {
	b, ok := l.Keys.Lookup(keymap.Question, key)
	return ok && b.ID == keymap.AnswerChoice && l.lookingAround()
}

// leavesGoal are the board's actions that leave the what-if of a goal.
var leavesGoal = []keymap.ID{keymap.WhatIf, keymap.Branch, keymap.Forks, keymap.CloseFork}

// Takes reports whether the lesson uses a key, so that it does not have its meaning on the board.
func (l *Lesson) Takes(key string) bool {
	if _, taken := l.questionKey(key); taken {
		return true
	}
	if l.answersEarly(key) {
		return true
	}
	b, ok := l.Keys.Lookup(keymap.Lesson, key)
	return ok && (b.ID != keymap.LessonBlank || l.Projector)
}

// answer gives the open question the answer of that key.
func (l *Lesson) answer(key string) tea.Cmd {
	_, keys, _ := l.Question()
	if i := slices.Index(keys, key); i >= 0 {
		return l.giveAnswer(i)
	}
	if key == "" {
		return l.Refuse("press the key of an answer")
	}
	return l.Refuse(fmt.Sprintf("%s is not one of the answers: press %s", keymap.Display(format.Safe(key)), strings.Join(keys, ", ")))
}

// Question returns the open question and the keys that answer it; its Answer is noAnswer. It reports false if none is open.
func (l *Lesson) Question() (asked lessons.Given, keys []string, open bool) {
	if l.phase != asking || l.Blank {
		return lessons.Given{}, nil, false
	}
	a := l.openQuestion()
	for i, answer := range a.Answers {
		keys = append(keys, AnswerKey(a.Kind, i, answer))
	}
	return l.ask(a), keys, true
}

// AnswerKey returns the key of the i-th answer.
func AnswerKey(kind lessons.Kind, i int, a lessons.Answer) string {
	if kind == lessons.AskQueue {
		return lessonTiers[a.Tier()].key
	}
	return string(rune('a' + i))
}
