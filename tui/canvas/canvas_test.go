package canvas_test

import (
	"image/color"
	"strings"
	"testing"

	"github.com/schedq/schedq/tui/canvas"
)

// plain is a palette without colours.
func plain() *canvas.Palette { return canvas.NewPalette([canvas.Colors]color.Color{}) }

func TestTextIsClippedToItsArea(t *testing.T) {
	var c canvas.Canvas
	c.Reset(12, 3)
	c.Area().Fill(0, ".")
	window := c.Area().Sub(2, 1, 5, 1)
	window.Text(0, 0, 0, "longer than five")
	window.Text(0, 1, 0, "below")
	window.Right(5, 0, 0, "<")
	if got, want := c.String(plain(), nil), "............\n..long<.....\n............"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWideLettersNeverCrossTheBorder(t *testing.T) {
	var c canvas.Canvas
	c.Reset(6, 1)
	c.Area().Fill(0, ".")
	c.Area().Sub(0, 0, 3, 1).Text(0, 0, 0, "日本語")
	if got, want := c.String(plain(), nil), "日 ..."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestHalfOfAWideLetterIsBlank: overwriting half of a wide letter blanks the other half and keeps
// the row's width.
func TestHalfOfAWideLetterIsBlank(t *testing.T) {
	var c canvas.Canvas
	c.Reset(6, 1)
	c.Area().Text(0, 0, 0, "世界世")
	c.Area().Sub(1, 0, 2, 1).Fill(0, "|")
	if got := c.String(plain(), nil); got != " || 世" {
		t.Errorf("%q", got)
	}
}

func TestTextThatTerminalsDisagreeAboutBecomesOneMark(t *testing.T) {
	for _, text := range []string{"\x1b", "\r", "\u009b", "\xff", "\u0301", "\u200b", "👨\u200d👩\u200d👧", "a" + strings.Repeat("\u0301", 20)} {
		var c canvas.Canvas
		c.Reset(10, 1)
		end := c.Area().Text(0, 0, 0, text+"x")
		if got := c.String(plain(), nil); got != "\uFFFDx" || end != 2 {
			t.Errorf("%q is drawn as %q and ends at %d", text, got, end)
		}
	}
}

func TestStylesAreRuns(t *testing.T) {
	var c canvas.Canvas
	c.Reset(8, 1)
	c.Area().Text(0, 0, canvas.Bold, "ab")
	c.Area().Text(2, 0, 0, "cd")
	c.Area().Sub(3, 0, 2, 1).Restyle(canvas.Reverse)
	if got, want := c.String(plain(), nil), "\x1b[1mab\x1b[mc\x1b[7md \x1b[m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShortening(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{canvas.Truncate("web-7d9f8c6b5-x2k1p", 8), "web-7d9…"},
		{canvas.Truncate("short", 8), "short"},
		{canvas.Truncate("short", 0), ""},
		{canvas.TruncateMiddle("web-7d9f8c6b5-x2k1p", 12), "web-7d…x2k1p"},
		{canvas.TruncateMiddle("日本語日本語", 8), "日本…語"},
		{canvas.TruncateMiddle("ab", 1), "…"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := strings.Join(canvas.Wrap("0/3 nodes are available: 3 Insufficient cpu. averyveryverylongword end", 16), "|")
	want := "0/3 nodes are|available: 3|Insufficient|cpu.|averyveryverylon|gword end"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if lines := canvas.Wrap("日本", 1); lines != nil {
		t.Errorf("a column of one cell has %q", lines)
	}
}

func TestLinks(t *testing.T) {
	var c canvas.Canvas
	c.Reset(30, 1)
	a := c.Area()
	a.Text(0, 0, canvas.Bold, "NodeAdd")
	a.Text(7, 0, 0, " ANodeAdd NodeAdds")
	a.Text(26, 0, 0, "Node")
	links := canvas.Links{"NodeAdd": "https://a", "Node": "https://b"}
	const end = "\x1b]8;;\a"
	want := "\x1b]8;;https://a\a\x1b[1mNodeAdd" + end + "\x1b[m ANodeAdd NodeAdds \x1b]8;;https://b\aNode" + end
	if got := c.Linked(plain(), nil, links); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.String(plain(), nil), "\x1b[1mNodeAdd\x1b[m ANodeAdd NodeAdds Node"; got != want {
		t.Errorf("without links: got %q, want %q", got, want)
	}
}
