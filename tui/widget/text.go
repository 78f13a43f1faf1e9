package widget

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// Text is a page of text to scroll: the output of a command, an object in YAML.
type Text struct {
	*page.UI
	name   string
	text   []string // the lines
	lines  []string // wrapped to the width
	w, h   int
	offset int
}

// tab is the longest expansion of a tab.
const tab = "        "

// Show opens the page with a title and text.
func (t *Text) Show(name, text string) tea.Cmd {
	*t = Text{UI: t.UI, name: name}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		t.text = append(t.text, format.Safe(expandTabs(strings.TrimSuffix(line, "\r"))))
	}
	t.Pages.Open(t)
	return nil
}

// expandTabs replaces tabs as a terminal would.
func expandTabs(line string) string {
	for {
		before, after, found := strings.Cut(line, "\t")
		if !found {
			return line
		}
		line = before + tab[canvas.Width(before)%len(tab):] + after
	}
}

func (t *Text) Context() keymap.Context { return keymap.Board }
func (t *Text) Layout() string          { return "" }

// Settle implements page.Page: it wraps long lines.
func (t *Text) Settle(w, h int) {
	if w != t.w && w > 2 {
		t.lines = t.lines[:0]
		for _, line := range t.text {
			if line == "" {
				t.lines = append(t.lines, "")
			}
			t.lines = append(t.lines, canvas.Wrap(line, w-2)...)
		}
	}
	t.w, t.h = w, h
	t.offset = max(0, min(t.offset, len(t.lines)-(h-1)))
}

// Draw implements page.Page.
func (t *Text) Draw(a canvas.Area) {
	a.Row(0).Fill(theme.Dim, "─")
	a.Text(1, 0, canvas.Bold, " "+canvas.Truncate(format.Safe(t.name), a.W/2)+" ")
	last := min(t.offset+a.H-1, len(t.lines))
	a.Right(a.W-1, 0, theme.Dim, fmt.Sprintf(" %s–%s of %s · ", format.Number(t.offset+1), format.Number(last), format.Number(len(t.lines)))+t.Keys.Say("{back}: back "))
	for y, line := range t.lines[min(t.offset, last):last] {
		a.Text(1, 1+y, theme.Plain, line)
	}
}

func (t *Text) Move(n int) { t.offset = max(0, t.offset+n) }
func (t *Text) Rows() int  { return max(1, t.h-2) }

func (t *Text) Enter() tea.Cmd {
	t.Pages.CloseTop()
	return nil
}
func (t *Text) EnterName() string   { return "close" }
func (t *Text) CannotEnter() string { return "" }

func (t *Text) Click(int, int) tea.Cmd { return nil }
func (t *Text) Wheel(turn page.Turn) {
	if !turn.Sideways {
		t.Move(turn.Rows)
	}
}
