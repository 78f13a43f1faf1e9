package class

import (
	"testing"

	"github.com/schedq/schedq/lessons"
)

// Who comes in again is in the lesson that they left, at the step that they left; who comes late is where the room begins.
func TestWhoComesAgainIsWhereTheyWere(t *testing.T) {
	c := &class{records: make(map[string]*record)}
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
	if l := lessonOf(all, again.last(), all[0]); l.Name != "gates" || again.Recall()["gates"].Step != 2 || again.Recall()["three-places"].Step != 6 {
		t.Errorf("ada is in %s, with %v", l.Name, again.Recall())
	}
	late := learner{c, "bob"}
	if l := lessonOf(all, late.last(), all[2]); l.Name != "comb" || late.Recall() != nil {
		t.Errorf("bob is in %s, with %v", l.Name, late.Recall())
	}
	mine := &lessons.Lesson{Name: "gates"} // a file's, that is called like one of the program's own
	if l := lessonOf(all, again.last(), mine); l != mine {
		t.Error("a lesson of the program's own takes the place of the file's")
	}
}
