package lessons_test

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/lessons"
)

// TestLessons plays every lesson: the right answers match the model, the solutions reach their
// goals, and the texts fit on a small screen.
func TestLessons(t *testing.T) {
	all, err := lessons.All()
	if err != nil {
		t.Fatal(err)
	}
	opts, err := lessons.Options()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 26 {
		t.Errorf("there are %d lessons, want 26", len(all))
	}
	names := map[string]bool{}
	for _, l := range all {
		t.Run(l.Name, func(t *testing.T) {
			if names[l.Name] {
				t.Error("another lesson has that name")
			}
			names[l.Name] = true
			p, err := l.Check(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range l.Steps {
				if s.Notes == "" || !strings.Contains(string(s.Notes), ". ") {
					t.Errorf("the notes of step %q lack what to ask, what people get wrong and what to show", s.Title)
				}
			}
			for _, warning := range p.Warnings {
				t.Error(warning)
			}
		})
	}
}
