package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
)

// lessonKey does what a key means in a lesson. It returns false if it means nothing there.
func (m *model) lessonKey(key string) (tea.Cmd, bool) {
	l := m.lesson
	if l.blank {
		l.blank = false
		return nil, true
	}
	if m.zoom == zoomDetail || m.zoom == zoomCompare || m.zoom.chart() {
		return nil, false // esc closes it
	}
	if l.phase == asking {
		if b, ok := m.keys.Lookup(keymap.Question, key); ok {
			return m.answerBy(b.ID, key), true
		}
	}
	b, ok := m.keys.Lookup(keymap.Lesson, key)
	if !ok {
		if onBoard, known := m.keys.Lookup(keymap.Board, key); known && l.current().Goal != nil && slices.Contains(leavesGoal, onBoard.ID) {
			return m.tell(notice{"the goal is to be reached in this what-if: enter goes on without it", true}), true
		}
		return nil, false
	}
	if b.ID == keymap.LessonBlank && !m.projector {
		return nil, false
	}
	return m.doInLesson(b.ID), true
}

// leavesGoal are the board's actions that leave the what-if in which a goal is to be reached.
var leavesGoal = []keymap.ID{keymap.WhatIf, keymap.LeaveWhatIf, keymap.Branch, keymap.Forks, keymap.CloseFork}

// answerBy answers the question that is open with a pane or a letter.
func (m *model) answerBy(id keymap.ID, key string) tea.Cmd {
	a := m.lesson.ask()
	m.pressed = "" // which is nobody's business, on stage
	for i, answer := range a.Answers {
		if key == answerKey(a.Kind, i, answer) {
			return m.answer(i)
		}
	}
	if id == keymap.AnswerQueue && a.Kind != lessons.AskQueue {
		return m.tell(notice{"answer with a letter", true})
	}
	return m.tell(notice{fmt.Sprintf("%s is none of the answers", keymap.Display(safe(key))), true})
}

// answerKey is the key that gives the i-th answer.
func answerKey(kind lessons.Kind, i int, a lessons.Answer) string {
	if kind == lessons.AskQueue {
		return lessonTiers[a.Tier()].key
	}
	return string(rune('a' + i))
}

// lessonRefusal is why a lesson's action can't be done now, or empty.
func (m *model) lessonRefusal(id keymap.ID) string {
	l := m.lesson
	switch id {
	case keymap.LessonBack:
		if l.step == 0 && l.phase != over {
			return "this is the first step"
		}
	case keymap.LessonHint:
		switch {
		case l.phase != trying:
			return "only a goal that is not reached has hints"
		case l.hints == len(l.current().Goal.Hints):
			return "there are no more hints: $ shows the solution"
		}
	case keymap.LessonSolution:
		if l.phase != trying && l.phase != reached {
			return "this step has no goal"
		}
	case keymap.LessonWhy:
		return m.actions[keymap.Open].refusal()
	case keymap.Lessons:
		if l.options.Plan == nil || len(l.options.Lessons) == 0 {
			return "there are no other lessons here"
		}
	}
	return ""
}

// doInLesson does a lesson's action.
func (m *model) doInLesson(id keymap.ID) tea.Cmd {
	if why := m.lessonRefusal(id); why != "" {
		return m.tell(notice{why, true})
	}
	l := m.lesson
	switch id {
	case keymap.LessonNext:
		return m.nextStep()
	case keymap.LessonBack:
		return m.stepBack()
	case keymap.LessonWhy:
		return m.do(keymap.Open)
	case keymap.LessonHint:
		l.hints, l.solution = l.hints+1, false
	case keymap.LessonSolution:
		l.solution = !l.solution
	case keymap.LessonSteps:
		m.chooseStep()
	case keymap.LessonRestart:
		return m.teach(l.plan, 0)
	case keymap.LessonBlank:
		l.blank = true
	case keymap.Lessons:
		m.chooseLesson()
	}
	return nil
}

// chooseStep lists the steps of the lesson and goes to the chosen one.
func (m *model) chooseStep() {
	l := m.lesson
	list := list{title: "steps of " + string(l.plan.Lesson.Title), choose: func(chosen []int) tea.Cmd { return m.toStep(chosen[0]) }}
	for i, s := range l.plan.Lesson.Steps {
		list.items = append(list.items, item{text: fmt.Sprintf("%2d %s %s", i+1, stepGlyph(&s), s.Title), aside: "  " + span(l.plan.Steps[i].From.At), note: string(s.Text)})
	}
	m.openList(list)
	m.list.move(l.step)
}

// stepGlyph says of what kind a step is.
func stepGlyph(s *lessons.Step) string {
	switch {
	case s.Prediction != nil:
		return "?"
	case s.Goal != nil:
		return "!"
	}
	return "·"
}

// chooseLesson lists the lessons and opens the chosen one.
func (m *model) chooseLesson() {
	l := m.lesson
	all := l.options.Lessons
	list := list{title: "lessons", choose: func(chosen []int) tea.Cmd { return m.openLesson(all[chosen[0]]) }}
	at := 0
	for i, lesson := range all {
		if lesson.Name == l.plan.Lesson.Name {
			at = i
		}
		list.items = append(list.items, item{text: fmt.Sprintf("%2d %s", i+1, lesson.Title), aside: "  " + standing(l.standings, lesson),
			note: "\"" + strings.TrimSuffix(string(lesson.Misconception), ".") + "\": " + string(lesson.Behaviour)})
	}
	m.openList(list)
	m.list.move(at)
}

// standing says how far the person has come in a lesson.
func standing(all map[string]lessons.Standing, l *lessons.Lesson) string {
	switch s, ok := all[l.Name]; {
	case !ok:
		return ""
	case s.Done && s.Asked > 0:
		return fmt.Sprintf("✓ %d of %d right", s.Right, s.Asked)
	case s.Done:
		return "✓ done"
	default:
		return fmt.Sprintf("step %d of %d", s.Step+1, len(l.Steps))
	}
}
