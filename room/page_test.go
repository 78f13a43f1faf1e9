package room

import (
	"strings"
	"testing"
)

// Where nobody has answered, v asks for the right answer of no question, and not of the next one.
func TestTheRightAnswerOfNoQuestion(t *testing.T) {
	nobody, somebody := &standing{}, &standing{tallies: []tally{{}}}
	if p := (&page{}).key("v", nobody); p.reveal {
		t.Error("the answer to the first question will be shown before it is asked for")
	}
	if p := (&page{}).key("v", somebody); !p.reveal || p.key("v", somebody).reveal {
		t.Error("v does not show the right answer and hide it again")
	}
}

// The teacher sees which questions most got wrong, by their share of those who answered; the room does not.
func TestWhatMostGetWrong(t *testing.T) {
	of := func(words string, right int, counts ...int) tally {
		all := tally{question: question{"Gates", "One", words}, counts: counts, right: right, answers: make([]string, len(counts))}
		for _, n := range counts {
			all.total += n
		}
		return all
	}
	s := &standing{tallies: []tally{of("few", 0, 9, 1), of("none", 1, 0, 5), of("most", 1, 3, 1), of("half", 0, 2, 2), of("nobody", 0, 0, 0)}}
	p := (&page{}).key("m", s)
	got := strings.Join(p.draw(s, false, 80, 20), "\n")
	want := "  3 of 4 wrong  Gates · One: most\n  2 of 4 wrong  Gates · One: half\n  1 of 10 wrong  Gates · One: few"
	if !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
	if p.key("m", s).missed || p.key("w", s).missed || !p.key("w", s).names {
		t.Error("m and w do not go back")
	}
	if empty := strings.Join(p.draw(&standing{}, false, 80, 20), "\n"); !strings.Contains(empty, "Nobody has answered anything wrongly yet.") {
		t.Errorf("%s", empty)
	}
	v := newScreen(&Visitor{room: &Room{}}, blank{})
	v.width, v.height, v.page, v.standing = 80, 24, p, s
	if shown := strings.Join(v.onStage().lines, "\n"); strings.Contains(shown, "wrong") {
		t.Errorf("the room sees\n%s", shown)
	}
}
