package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/tui/lesson"
)

// kept is a learner's progress that a test can read.
type kept struct {
	mu  sync.Mutex
	all map[string]lessons.Standing
}

func (k *kept) Recall() map[string]lessons.Standing { return nil }

func (k *kept) Keep(lesson string, s lessons.Standing) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string]lessons.Standing{}
	}
	k.all[lesson] = s
	return nil
}

func (k *kept) of(lesson string) lessons.Standing {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all[lesson]
}

// prepared is a lesson in a test.
type prepared struct {
	plan    *lessons.Plan
	options LessonOptions
	screen  Options
}

// prepare plans the named lesson. Call it outside of a bubble: a scheduler makes its process listen
// for signals permanently.
func prepare(t *testing.T, name string) prepared {
	t.Helper()
	var o LessonOptions
	all, err := lessons.All()
	if err != nil {
		t.Fatal(err)
	}
	i, err := lessons.Find(all, name)
	if err != nil {
		t.Fatal(err)
	}
	if o.Session, err = lessons.Options(); err != nil {
		t.Fatal(err)
	}
	plan, err := all[i].Plan(t.Context(), o.Session)
	if err != nil {
		t.Fatal(err)
	}
	o.Lessons = all
	o.Plan = func(l *lessons.Lesson) (*lessons.Plan, error) { return l.Plan(t.Context(), o.Session) }
	return prepared{plan: plan, options: o}
}

// learn starts the lesson on a screen of 80 by 24.
func (l prepared) learn(t *testing.T, k *kept) *person {
	t.Helper()
	return l.learnAt(t, 80, 24, k)
}

// learnAt starts the lesson on a screen of w by h cells.
func (l prepared) learnAt(t *testing.T, w, h int, k *kept) *person {
	t.Helper()
	l.options.Progress = k
	return sitAt(t, w, h, func(ctx context.Context) *model { return newLesson(ctx, l.plan, l.options, l.screen) })
}

// come waits until the lesson has reached the moment it asked about.
func (p *person) come() *person {
	p.wait(3 * time.Second)
	return p
}

func TestALessonIsGoneThroughByKeys(t *testing.T) {
	l := prepare(t, "three-places")
	synctest.Test(t, func(t *testing.T) {
		var k kept
		var given []lessons.Given
		l.options.Predicted = func(g lessons.Given) { given = append(given, g) }
		p := l.learn(t, &k)
		p.sees("1/7 One word, three places", "◉○○○○○○", "— a scenario, under v1.37's rules")

		p.do(keymap.LessonNext).sees("Where does web-1 enter the queue?", " 1  activeQ")
		p.press("4")
		p.sees("can't: 4 is not one of the answers: press 1, 2, 3")
		p.press("1")
		p.do(keymap.LessonNext).come().sees("✓ activeQ: A new pod is ready to be tried", "▸○ web-1")

		p.do(keymap.LessonNext).press("2") // a wrong answer is explained
		p.do(keymap.LessonNext).come().sees("✗ You said backoffQ. A rejected pod", "→ unschedulable: A plugin rejected it")
		p.sees("rejected by NodeResourcesFit") // followed by the arithmetic

		p.do(keymap.LessonBack).sees("2/7", "Where does web-1 enter")
		p.do(keymap.LessonNext).come().sees("→ activeQ") // without an answer
		p.do(keymap.LessonNext).do(keymap.LessonNext).come()
		p.do(keymap.LessonNext).press("a")
		p.do(keymap.LessonNext).come().sees("✓ 1s: It is created in 1 s")

		p.do(keymap.LessonNext).sees("5/7 Your turn", "WHAT-IF since 10:00:20", "The goal: batch-1 is bound")
		p.do(keymap.LessonHint).sees("· It was rejected by NodeResourcesFit")
		p.do(keymap.LessonHint, keymap.LessonHint).sees("can't: there are no more hints")
		p.do(keymap.LessonSolution).sees("like node-a   with e l (node like)")
		p.do(keymap.AddNode).enter("node-a").sees("✓ Reached: batch-1 is bound")
		p.do(keymap.Undo).seesNot("✓ Reached")
		p.do(keymap.Redo).sees("✓ Reached: batch-1 is bound")

		p.do(keymap.LessonNext).seesNot("WHAT-IF").sees("6/7", "10:00:29")
		p.press("1")
		p.do(keymap.LessonNext).come().do(keymap.LessonNext).sees("7/7 What to remember")
		p.do(keymap.LessonNext).sees("Pending is three places: done", "You answered 4 of 4 questions, 3 correctly")
		if got := k.of("three-places"); !got.Done || got.Asked != 4 || got.Right != 3 {
			t.Errorf("the progress is %+v", got)
		}
		if len(given) != 4 || given[1].Answer != 1 || given[1].Right != 2 || strings.Join(given[1].Answers, " ") != "activeQ backoffQ unschedulable" {
			t.Errorf("the reported answers are %+v", given)
		}
		p.do(keymap.LessonNext).wait(time.Second)
		p.sees("1/7 A pod that is woken again and again")
	})
}

// TestALessonLeavesAWhatIf: the outcome of a question is shown in the lesson's own timeline, not in
// a what-if that the user has started.
func TestALessonLeavesAWhatIf(t *testing.T) {
	l := prepare(t, "three-places")
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		p.do(keymap.LessonNext, keymap.LessonNext).come()
		p.do(keymap.LessonNext).sees("3/7", "Where does batch-1 go?")
		p.do(keymap.Palette).paste("what-if")
		p.press("enter")
		p.sees("WHAT-IF")
		p.press("3")
		p.do(keymap.LessonNext).come().seesNot("WHAT-IF").sees("✓ unschedulable", "unschedulable 1")
	})
}

func TestALessonOnStage(t *testing.T) {
	l := prepare(t, "gates")
	l.screen.Projector = true
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		for _, key := range []string{"pgdown", "pgdown"} { // the keys of a presentation remote
			p.press(key)
		}
		p.come().sees("→ gated")
		p.press(".")
		if strings.TrimSpace(p.screen()) != "" {
			t.Errorf("the screen is not blank:\n%s", p.screen())
		}
		p.clickAt(115, 39) // the position of quit: a click on a blank screen does nothing
		p.sees("→ gated")
		p.press("pgup")
		p.sees("1/6 A pod that asks to wait")
		p.wait(10 * time.Second)
		p.sees("0:1") // the timer
		p.do(keymap.LessonSteps).sees("steps of Gates aren't failures", "A minute later")
		p.press("down")
		p.press("down")
		p.press("enter")
		p.sees("3/6 A minute later")
		p.press("f5")
		p.sees("1/6", "─ 0:00 ─")
	})
}

// TestALessonsPanesAreSeen: a screen one row shorter than a terminal, as in a room, shows the three
// panes of a question, and the smallest screen the pane with the lesson's pod.
func TestALessonsPanesAreSeen(t *testing.T) {
	l := prepare(t, "one-two-four")
	l.options.Step = 2
	synctest.Test(t, func(t *testing.T) {
		p := l.learnAt(t, 80, 23, &kept{})
		p.sees("━ 1 activeQ 0", "─ 2 backoffQ 1", "─ 3 unschedulable 0", "▸○ greedy", "a  3s")
		p.resize(60, 20)
		p.press("f5") // from the beginning
		p.press("pgdown")
		p.press("pgdown")
		p.sees("━ 2 backoffQ 1", "▸○ greedy")
		p.do(keymap.FocusUnsched) // its key is an answer while a question is open
		p.sees("━ 2 backoffQ 1")
	})
}

// TestTheBarOfALesson: the key bar lists no key twice, shows how to answer, and shows no key that
// does something else in a lesson.
func TestTheBarOfALesson(t *testing.T) {
	l := prepare(t, "one-two-four")
	l.options.Step = 2
	synctest.Test(t, func(t *testing.T) {
		p := l.learnAt(t, 120, 40, &kept{})
		p.sees(" a b c answer  enter show me").seesNot("enter why?").sees(". step")
		p.clickAt(3, 39)
		p.sees("can't: press the key of an answer")
		p.do(keymap.Projector).seesNot(". step") // with the projector view it blanks the screen
	})
}

// TestWhyInALessonIsAboutThePod: after a step in the log, why? explains the lesson's pod, and does
// not jump to a move.
func TestWhyInALessonIsAboutThePod(t *testing.T) {
	l := prepare(t, "crowd")
	l.options.Step = 1
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		p.sees("2/5 Look around")
		for _, letter := range "abcdef" { // the answers are not shown yet
			p.press(string(letter))
			p.sees("can't: look around first: enter shows the answers", "2/5 Look around").seesNot("what-if?").seesNot("WHAT-IF")
		}
		p.do(keymap.FocusLog).do(keymap.LessonWhy).sees("esc: back", "p-00024").do(keymap.Back).sees("Look around, then press enter")
	})
}

// TestALessonHasATimePlanned: the elapsed time is shown next to the time that the course plans for
// the lesson.
func TestALessonHasATimePlanned(t *testing.T) {
	l := prepare(t, "gates")
	l.plan.Lesson.Planned = 5 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		p.wait(3 * time.Second)
		p.sees("0:03 of 5:00 ─")
	})
}

// TestEveryBindingOfALessonDoesSomething: every binding has an action in a lesson, and the key bar
// can be clicked.
func TestEveryBindingOfALessonDoesSomething(t *testing.T) {
	l := prepare(t, "three-places")
	synctest.Test(t, func(t *testing.T) {
		p := l.learn(t, &kept{})
		for _, b := range p.model.Keys.All() {
			if _, ok := p.model.Actions[b.ID]; !ok {
				t.Errorf("%s (%s) has no action", b.ID, b.Context)
			}
		}
		p.sees("1/7").clicks("enter next").sees("2/7")
	})
}

// TestEveryLessonByKeys: every lesson can be completed with right and with wrong answers, and all
// its text is readable on the smallest screen, on that of a room and on a large one. With -captures
// it writes the screens of the first prediction and of each reached goal.
func TestEveryLessonByKeys(t *testing.T) {
	t.Parallel()
	all, err := lessons.All()
	if err != nil {
		t.Fatal(err)
	}
	if *captures {
		defer keepLessons(t, all)
	}
	for n, l := range all {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			ready := prepare(t, l.Name)
			sizes := [][2]int{{60, 20}, {80, 23}, {120, 40}}
			if testing.Short() {
				sizes = sizes[n%len(sizes):][:1]
			}
			for _, size := range sizes {
				t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var k kept
						ready.learnAt(t, size[0], size[1], &k).goesThrough(l, lessons.Ask.Right, func() {})
						if got := k.of(l.Name); !got.Done || got.Right != got.Asked {
							t.Errorf("with right answers the progress is %+v", got)
						}
						ready.learnAt(t, size[0], size[1], &k).goesThrough(l, longestWrong, func() {})
						if got := k.of(l.Name); !got.Done || got.Right != 0 {
							t.Errorf("with wrong answers the progress is %+v", got)
						}
					})
				})
			}
		})
	}
}

// longestWrong returns the wrong answer with the longest explanation.
func longestWrong(a lessons.Ask) int {
	longest := -1
	for i, answer := range a.Answers {
		if !answer.Right && (longest < 0 || len(answer.Says) > len(a.Answers[longest].Says)) {
			longest = i
		}
	}
	return longest
}

// keepLessons writes the screens of the lessons on a terminal of 80 by 24.
func keepLessons(t *testing.T, all []*lessons.Lesson) {
	var seen strings.Builder
	for n, l := range all {
		ready := prepare(t, l.Name)
		synctest.Test(t, func(t *testing.T) {
			p := ready.learn(t, &kept{})
			p.goesThrough(l, lessons.Ask.Right, func() { fmt.Fprintf(&seen, "=== %d. %s\n%s\n", n+1, l.Title, p.screen()) })
		})
	}
	if err := os.WriteFile(filepath.Join(capturesFolder, "lessons.txt"), []byte(seen.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// goesThrough answers every question of l with the answer that choose returns, and reaches every
// goal. It calls keep at the first prediction and at each goal.
func (p *person) goesThrough(l *lessons.Lesson, choose func(lessons.Ask) int, keep func()) {
	first := true
	for i, s := range l.Steps {
		p.sees(string(s.Title)[:min(len(s.Title), 25)]).reads(string(s.Text))
		if i == 0 {
			p.reads(l.Under())
		}
		if s.Prediction != nil {
			if s.Prediction.Finding { // the user looks around first, and once more
				for _, a := range s.Prediction.Asks {
					p.reads(string(a.Question))
				}
				p.do(keymap.Play).wait(time.Second)
				p.do(keymap.LessonNext, keymap.LessonBack).reads(string(s.Text)).do(keymap.LessonNext)
			}
			for _, a := range s.Prediction.Asks {
				if !s.Prediction.Finding {
					p.reads(string(s.Text))
				}
				p.reads(string(a.Question))
				p.press(lesson.AnswerKey(a.Kind, choose(a), a.Answers[choose(a)]))
			}
			p.do(keymap.LessonNext).come()
			for _, a := range s.Prediction.Asks {
				if a.Answers[choose(a)].Right {
					p.sees("✓ ").seesNot("✗")
				}
				p.reads(string(a.Answers[choose(a)].Says)).reads(string(a.Answers[a.Right()].Says))
			}
			if first {
				keep()
			}
			first = false
		}
		if s.Goal != nil {
			for _, hint := range s.Goal.Hints {
				p.do(keymap.LessonHint).reads(string(s.Text)).reads(string(hint))
			}
			for _, d := range s.Goal.Solution {
				d.Do(p.model.Session)
				p.wait(time.Second)
			}
			p.sees("✓ Reached")
			keep()
		}
		p.do(keymap.LessonNext)
	}
	p.sees("done", "Applies to")
}

// reads fails the test unless text is on the screen, however it is wrapped.
func (p *person) reads(text string) *person {
	p.t.Helper()
	text = strings.Join(strings.Fields(p.model.Keys.Say(text)), " ")
	if screen := strings.Join(strings.Fields(p.screen()), " "); !strings.Contains(screen, text) {
		p.t.Errorf("%q is not readable:\n%s", text, p.screen())
	}
	return p
}
