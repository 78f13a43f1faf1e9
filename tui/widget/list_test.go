package widget

import (
	"image/color"
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/tui/canvas"
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

// TestRowsSayThingsOnce: a row does not repeat its text where its note begins with it.
func TestRowsSayThingsOnce(t *testing.T) {
	for note, want := range map[string]int{
		"default/web-1":                     1,
		"default/web-1 activeQ 3 attempts":  1,
		"The pod default/web-1 of shop/web": 2,
	} {
		var screen canvas.Canvas
		screen.Reset(100, 1)
		l := List{Items: []Item{{Key: "name", Text: "default/web-1", Note: note}}, shown: []int{0}}
		l.row(screen.Area(), 0)
		if got := strings.Count(screen.String(canvas.NewPalette([canvas.Colors]color.Color{}), nil), "default/web-1"); got != want {
			t.Errorf("with the note %q the text is shown %d times, want %d", note, got, want)
		}
	}
}
