package widget

import (
	"slices"
	"testing"
)

// TestEmptyHeadings: headings without items are hidden, and the cursor never rests on a heading.
func TestEmptyHeadings(t *testing.T) {
	for _, c := range []struct {
		name  string
		items []Item
		query string
		want  []int
	}{
		{"the last has none", []Item{{Text: "pods", Heading: true}, {Text: "web"}, {Text: "nodes", Heading: true}}, "", []int{0, 1}},
		{"none has any", []Item{{Text: "pods", Heading: true}, {Text: "nodes", Heading: true}}, "", nil},
		{"one after the other", []Item{{Text: "pods", Heading: true}, {Text: "nodes", Heading: true}, {Text: "node-a"}}, "", []int{1, 2}},
		{"of those that are searched", []Item{{Text: "pods", Heading: true}, {Text: "web"}, {Text: "nodes", Heading: true}}, "web", []int{1}},
	} {
		l := List{Items: c.items}
		l.search(c.query)
		if !slices.Equal(l.shown, c.want) {
			t.Errorf("%s: %v is shown, want %v", c.name, l.shown, c.want)
		}
		for range c.items {
			l.move(1)
			if i, any := l.current(); any && l.Items[i].Heading {
				t.Errorf("%s: the cursor is on %q", c.name, l.Items[i].Text)
			}
		}
	}
}
