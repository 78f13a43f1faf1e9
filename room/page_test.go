package room

import (
	"strings"
	"testing"
)

// TestRevealWithoutQuestion: pressed before the first answer, v does not reveal the right answer of
// the next question.
func TestRevealWithoutQuestion(t *testing.T) {
	empty, answered := &snapshot{}, &snapshot{tallies: []tally{{}}}
	if p := (&page{}).key("v", empty); p.reveal {
		t.Error("v reveals the answer of a later question")
	}
	if p := (&page{}).key("v", answered); !p.reveal || p.key("v", answered).reveal {
		t.Error("v does not toggle the right answer")
	}
}

// TestMostMissed: the most missed questions are sorted by their share of wrong answers, and are not
// shared.
func TestMostMissed(t *testing.T) {
	of := func(words string, right int, counts ...int) tally {
		all := tally{question: question{"Gates", "One", words}, counts: counts, right: right, answers: make([]string, len(counts))}
		for _, n := range counts {
			all.total += n
		}
		return all
	}
	s := &snapshot{tallies: []tally{of("few", 0, 9, 1), of("none", 1, 0, 5), of("most", 1, 3, 1), of("half", 0, 2, 2), of("nobody", 0, 0, 0)}}
	p := (&page{}).key("m", s)
	got := strings.Join(p.draw(s, false, 80, 20), "\n")
	want := "  3 of 4 wrong  Gates · One: most\n  2 of 4 wrong  Gates · One: half\n  1 of 10 wrong  Gates · One: few"
	if !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
	if p.key("m", s).missed || p.key("w", s).missed || !p.key("w", s).people {
		t.Error("m does not close the page, or w does not open the list")
	}
	if empty := strings.Join(p.draw(&snapshot{}, false, 80, 20), "\n"); !strings.Contains(empty, "No wrong answers yet.") {
		t.Errorf("%s", empty)
	}
	v := newScreen(&Visitor{room: &Room{}}, blank{})
	v.width, v.height, v.page, v.snapshot = 80, 24, p, s
	if shown := strings.Join(v.sharedFrame().lines, "\n"); strings.Contains(shown, "wrong") {
		t.Errorf("followers see\n%s", shown)
	}
}
