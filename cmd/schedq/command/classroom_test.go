package command

import (
	"context"
	"testing"

	"github.com/schedq/schedq/lessons"
)

// TestReturningLearner: a learner who returns continues at the same lesson and step; a new one
// starts at the room's first lesson.
func TestReturningLearner(t *testing.T) {
	c := &classroom{records: make(map[string]*learnerRecord)}
	all := []*lessons.Lesson{{Name: "three-places"}, {Name: "gates"}, {Name: "comb"}}
	ada := learner{c, "ada"}
	for _, kept := range []struct {
		lesson string
		step   int
	}{{"three-places", 6}, {"gates", 2}} {
		if err := ada.Keep(kept.lesson, lessons.Standing{Step: kept.step}); err != nil {
			t.Fatal(err)
		}
	}
	again := learner{c, "ada"}
	if l := lessonNamed(all, again.last(), all[0]); l.Name != "gates" || again.Recall()["gates"].Step != 2 || again.Recall()["three-places"].Step != 6 {
		t.Errorf("ada is in %s, with %v", l.Name, again.Recall())
	}
	late := learner{c, "bob"}
	if l := lessonNamed(all, late.last(), all[2]); l.Name != "comb" || late.Recall() != nil {
		t.Errorf("bob is in %s, with %v", l.Name, late.Recall())
	}
	mine := &lessons.Lesson{Name: "gates"} // a file with the name of an embedded lesson
	if l := lessonNamed(all, again.last(), mine); l != mine {
		t.Error("the embedded lesson replaces the file's")
	}
	if summary := again.summary(all); summary != "" {
		t.Errorf("with no lesson done: %q", summary)
	}
	if err := again.Keep("comb", lessons.Standing{Done: true}); err != nil {
		t.Fatal(err)
	}
	if summary := again.summary(all); summary != " · 1 of 3 done" {
		t.Errorf("with one lesson done: %q", summary)
	}
}

// TestStepNotes: Next waits for notes that differ from the shown ones.
func TestStepNotes(t *testing.T) {
	var s stepNotes
	got := make(chan string)
	go func() {
		for shown := ""; shown != "three"; {
			shown, _ = s.Next(t.Context(), shown)
			got <- shown
		}
	}()
	for _, notes := range []string{"one", "one", "three"} {
		s.Set(notes)
	}
	last := ""
	for last != "three" {
		if next := <-got; next == last {
			t.Errorf("%q twice", next)
		} else {
			last = next
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ended, "three"); err == nil {
		t.Error("Next ignores the end of its context")
	}
}
