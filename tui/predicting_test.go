package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
)

// letters are the letters of a keyboard.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// TestNoLetterDoesAnythingButAnswer: from a question until the user goes on, only the keys of
// answers, of lessons and of the program have an effect.
func TestNoLetterDoesAnythingButAnswer(t *testing.T) {
	l := prepare(t, "one-two-four")
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		var pressed string
		for _, key := range letters {
			b, ok := p.model.Keys.Lookup(keymap.Board, string(key))
			if _, lesson := p.model.Keys.Lookup(keymap.Lesson, string(key)); lesson || !ok || b.Group == keymap.Program {
				continue
			}
			if words := p.model.Keys.Words(string(key)); len(words) > 0 && words[0].Group == keymap.Program {
				continue
			}
			pressed += string(key)
		}
		if len(pressed) < 20 {
			t.Fatalf("only %q are bound on the board", pressed)
		}
		try := func(phase string, refused string) {
			t.Helper()
			now, top := p.model.Frame.Now, p.model.Pages.Top()
			for _, key := range pressed {
				p.press(string(key))
				if f := p.model.Frame; f.Fork != nil || phase != "plays" && !f.Now.Equal(now) || p.model.Pages.Top() != top || p.model.Overlays.Top() != nil {
					t.Fatalf("%c has an effect while a question %s:\n%s", key, phase, p.screen())
				}
			}
			p.sees(refused)
		}
		p.do(keymap.LessonNext).sees("How long is its backoff?")
		try("is open", "can't: answer the question, or press enter to see what happens")
		p.press("c")
		p.do(keymap.LessonNext) // it plays
		try("plays", "already answered: press enter to go on")
		p.come()
		try("is answered", "already answered: press enter to go on")
	})
}

// TestAnAnswerIsChangedUntilItPlays: an answer can be changed until it plays, and each change is
// reported; the question and the choice stay on the screen, and are explained at the end.
func TestAnAnswerIsChangedUntilItPlays(t *testing.T) {
	l := prepare(t, "one-two-four")
	synctest.Test(t, func(t *testing.T) {
		var k kept
		var given []string
		l.options.Predicted = func(g lessons.Given) { given = append(given, g.Answers[g.Answer]) }
		p := l.learn(t, &k)
		p.do(keymap.LessonNext).press("c")
		p.sees("Your answer: 10s. Press another key to change it, enter to see what happens.")
		p.press("b")
		p.press("a")
		p.sees("Your answer: 1s.", "10:00:05.3")
		p.do(keymap.LessonNext).reads("How long is its backoff?").reads("greedy has failed once").reads("a 1s").sees("▶ playing")
		p.press("b") // too late
		p.come().reads("How long is its backoff?").reads("✓ 1s: After attempt 1").seesNot("✗")
		if got := strings.Join(given, " "); got != "10s 2s 1s" {
			t.Errorf("the reported answers are %s", got)
		}
	})
}

// TestTheFirstOfTwoAnswersIsChanged: going back changes the answer to the first of two questions,
// and both choices are shown during playback.
func TestTheFirstOfTwoAnswersIsChanged(t *testing.T) {
	l := prepare(t, "preempting")
	l.options.Step = 2
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		p.sees("Which pod gets node-a?").press("a")
		p.sees("Which pod gets node-a? high-1", "And how long, from now?").press("b")
		p.sees("Your answer: 600ms.")
		p.do(keymap.LessonBack).seesNot("Your answer: 600ms.")
		p.do(keymap.LessonBack).sees("Which pod gets node-a?", "3/6").press("b")
		p.press("b")
		p.do(keymap.LessonNext).sees("Which pod gets node-a? top-1", "▶ playing")
		p.come().sees("✓ top-1", "✓ 600ms").seesNot("✗")
	})
}

// TestAnotherQuestionIsNotPassedOver: going on after the first of two questions points out the
// second once.
func TestAnotherQuestionIsNotPassedOver(t *testing.T) {
	l := prepare(t, "no-retry-timer")
	l.options.Step = 1
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		p.sees("1 of 2: Where is it a minute from now?").press("3")
		p.sees("2 of 2: And how many attempts has it had by then?")
		p.do(keymap.LessonNext).sees("can't: one more question: answer it, or press enter to skip it", "2 of 2")
		p.do(keymap.LessonNext).come().sees("✓ unschedulable", "→ 1: No event, no attempt.")
	})
}

// TestAGoalSaysWhatCanBeDone: the first goal lists the possible actions and their keys.
func TestAGoalSaysWhatCanBeDone(t *testing.T) {
	l := prepare(t, "three-places")
	l.options.Step = 4
	synctest.Test(t, func(t *testing.T) {
		l.learn(t, &kept{}).reads("The goal: batch-1 is bound.").reads("What you can do: e l adds a node like an existing one, e x deletes a pod or a node, e t edits")
	})
}

// TestCountsSayWhatTheyCount: the result counts the lesson's questions, the answered ones, and the
// right first answers.
func TestCountsSayWhatTheyCount(t *testing.T) {
	l := prepare(t, "safety-net")
	synctest.Test(t, func(t *testing.T) {
		var k kept
		p := l.learn(t, &k)
		p.do(keymap.LessonNext).press("3") // wrong
		p.do(keymap.LessonNext, keymap.LessonNext).come().sees("✗ You said unschedulable")
		p.do(keymap.LessonBack, keymap.LessonNext).press("1") // a second, right answer
		p.do(keymap.LessonNext, keymap.LessonNext).come()
		for range 4 {
			p.do(keymap.LessonNext).come()
		}
		p.do(keymap.LessonNext).sees("You answered 1 of 3 questions, 0 correctly")
		got := k.of("safety-net")
		if got.Asked != 1 || got.Right != 0 || len(got.Missed) != 1 || got.Missed[0] != (lessons.Missed{Step: 1}) {
			t.Errorf("the progress is %+v", got)
		}
	})
}
