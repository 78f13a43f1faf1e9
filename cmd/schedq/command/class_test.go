package command

import (
	"context"
	"testing"

	"github.com/schedq/schedq/lessons"
)

// Who comes in again is in the lesson that they left, at the step that they left; who comes late is where the room begins.
func TestWhoComesAgainIsWhereTheyWere(t *testing.T) {
	c := &class{records: make(map[string]*classRecord)}
	all := []*lessons.Lesson{{Name: "three-places"}, {Name: "gates"}, {Name: "comb"}}
	ada := classLearner{c, "ada"}
	for _, kept := range []struct {
		lesson string
		step   int
	}{{"three-places", 6}, {"gates", 2}} {
		if err := ada.Keep(kept.lesson, lessons.Standing{Step: kept.step}); err != nil {
			t.Fatal(err)
		}
	}
	again := classLearner{c, "ada"}
	if l := classLessonOf(all, again.last(), all[0]); l.Name != "gates" || again.Recall()["gates"].Step != 2 || again.Recall()["three-places"].Step != 6 {
		t.Errorf("ada is in %s, with %v", l.Name, again.Recall())
	}
	late := classLearner{c, "bob"}
	if l := classLessonOf(all, late.last(), all[2]); l.Name != "comb" || late.Recall() != nil {
		t.Errorf("bob is in %s, with %v", l.Name, late.Recall())
	}
	mine := &lessons.Lesson{Name: "gates"} // a file's, that is called like one of the program's own
	if l := classLessonOf(all, again.last(), mine); l != mine {
		t.Error("a lesson of the program's own takes the place of the file's")
	}
	if stands := again.doneOf(all); stands != "" {
		t.Errorf("ada has done nothing, and it says %q", stands)
	}
	if err := again.Keep("comb", lessons.Standing{Done: true}); err != nil {
		t.Fatal(err)
	}
	if stands := again.doneOf(all); stands != " · 1 of 3 done" {
		t.Errorf("ada has done one, and it says %q", stands)
	}
}

// Who has the notes shown gets those of another step when there are some, and not the same again.
func TestTheSpeakersNotesChange(t *testing.T) {
	var s speaker
	got := make(chan string)
	go func() {
		for shown := ""; shown != "three"; {
			shown, _ = s.Next(t.Context(), shown)
			got <- shown
		}
	}()
	for _, notes := range []string{"one", "one", "three"} {
		s.show(notes)
	}
	last := ""
	for last != "three" {
		if next := <-got; next == last {
			t.Errorf("%q comes twice", next)
		} else {
			last = next
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ended, "three"); err == nil {
		t.Error("it waits for ever")
	}
}
