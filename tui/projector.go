package tui

import (
	"strings"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// largeRows is how tall the large counts are: three lines of digits, and their names.
const largeRows = 4

// largeCounts draws how many pods each tier has, to be read from the back of a room.
type largeCounts struct{ frame *session.Frame }

// Draw draws the counts side by side.
func (l largeCounts) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	order := [...]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight}
	width := a.W / len(order)
	for i, tier := range order {
		cell := a.Sub(i*width+1, 0, width-1, a.H)
		x := 0
		for _, digit := range number(l.frame.Board.Total(tier)) {
			if x+digitWidth > cell.W {
				break
			}
			for y, row := range digitRows(digit) {
				cell.Text(x, y, tierStyle(tier)|canvas.Bold, row)
			}
			x += digitWidth + 1
		}
		cell.Text(0, digitHeight, tierStyle(tier)|canvas.Bold, tierName(tier))
	}
}

// The size of a large digit in cells.
const (
	digitWidth  = 3
	digitHeight = 3
)

// digitRows returns a large digit, or a comma.
func digitRows(r rune) [digitHeight]string {
	digits := [...][digitHeight]string{
		{"█▀█", "█ █", "▀▀▀"}, {"▀█ ", " █ ", "▀▀▀"}, {"▀▀█", "█▀▀", "▀▀▀"}, {"▀▀█", " ▀█", "▀▀▀"}, {"█ █", "▀▀█", "  ▀"},
		{"█▀▀", "▀▀█", "▀▀▀"}, {"█▀▀", "█▀█", "▀▀▀"}, {"▀▀█", "  █", "  ▀"}, {"█▀█", "█▀█", "▀▀▀"}, {"█▀█", "▀▀█", "▀▀▀"},
	}
	if r >= '0' && r <= '9' {
		return digits[r-'0']
	}
	return [digitHeight]string{"   ", "   ", " ▄ "}
}

// drawPressed shows the key that was pressed last, and what it does, at the right of the status line.
func (m *model) drawPressed(a canvas.Area) {
	if m.pressed == "" {
		return
	}
	text := " " + keymap.Display(safe(m.pressed)) + " "
	b, ok := m.keys.Lookup(keymap.Board, m.pressed)
	if m.zoom.chart() {
		if c, inChart := m.keys.Lookup(keymap.Chart, m.pressed); inChart {
			b, ok = c, true
		}
	}
	if !ok {
		return
	}
	name := " " + strings.TrimSpace(b.Name) + " "
	x := a.W - canvas.Width(text) - canvas.Width(name) - 1
	if x < 0 {
		return
	}
	a.Sub(x-1, 0, a.W-x+1, 1).Fill(plain, " ")
	a.Text(a.Text(x, 0, accent|canvas.Bold|canvas.Reverse, text), 0, canvas.Bold, name)
}
