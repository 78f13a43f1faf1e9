package command

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

// output is the page of what a command wrote.
type output struct {
	*page.Desk
	name   string
	text   []string // its lines
	lines  []string // as wide as the room
	w, h   int
	offset int
}

// tab is how many cells a tab is at the most.
const tab = "        "

// show opens the page with what the command of that name wrote.
func (o *output) show(name, said string) tea.Cmd {
	*o = output{Desk: o.Desk, name: name}
	if said = strings.TrimRight(said, "\n"); said == "" {
		said = "It wrote nothing."
	}
	for line := range strings.SplitSeq(said, "\n") {
		o.text = append(o.text, format.Safe(expandTabs(strings.TrimSuffix(line, "\r"))))
	}
	o.Pages.Open(o)
	return nil
}

// expandTabs puts blanks where a terminal would.
func expandTabs(line string) string {
	for {
		before, after, found := strings.Cut(line, "\t")
		if !found {
			return line
		}
		line = before + tab[canvas.Width(before)%len(tab):] + after
	}
}

func (o *output) Context() keymap.Context { return keymap.Board }
func (o *output) Layout() string          { return "" }

// Settle implements page.Page: a line that is too long goes on in the next.
func (o *output) Settle(w, h int) {
	if w != o.w && w > 2 {
		o.lines = o.lines[:0]
		for _, line := range o.text {
			rest := line
			for canvas.Width(rest) > w-2 {
				fits := strings.TrimSuffix(canvas.Truncate(rest, w-2), "…")
				if fits == "" || !strings.HasPrefix(rest, fits) {
					break
				}
				o.lines, rest = append(o.lines, fits), rest[len(fits):]
			}
			o.lines = append(o.lines, rest)
		}
	}
	o.w, o.h = w, h
	o.offset = max(0, min(o.offset, len(o.lines)-(h-1)))
}

// Draw implements page.Page.
func (o *output) Draw(a canvas.Area) {
	a.Row(0).Fill(theme.Dim, "─")
	a.Text(1, 0, canvas.Bold, " "+canvas.Truncate(format.Safe(o.name), a.W/2)+" ")
	last := min(o.offset+a.H-1, len(o.lines))
	a.Right(a.W-1, 0, theme.Dim, fmt.Sprintf(" %s–%s of %s · ", format.Number(o.offset+1), format.Number(last), format.Number(len(o.lines)))+o.Keys.Say("{back}: back "))
	for y, line := range o.lines[min(o.offset, last):last] {
		a.Text(1, 1+y, theme.Plain, line)
	}
}

func (o *output) Move(n int) { o.offset = max(0, o.offset+n) }
func (o *output) Rows() int  { return max(1, o.h-2) }

func (o *output) Enter() tea.Cmd {
	o.Pages.CloseTop()
	return nil
}
func (o *output) EnterName() string   { return "close" }
func (o *output) CannotEnter() string { return "" }

func (o *output) Click(int, int) tea.Cmd { return nil }
func (o *output) Wheel(t page.Turn) {
	if !t.Sideways {
		o.Move(t.Rows)
	}
}
