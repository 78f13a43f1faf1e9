package board

import (
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// largeRows is the height of the large counts: three lines of digits, and the names.
const largeRows = 4

// largeCounts draws the time and the size of each tier, readable from the back of a room.
type largeCounts struct{ frame *session.Frame }

// large is a number in large digits, with its name.
type large struct {
	digits, name string
	style        canvas.Style
}

// width returns the width of l.
func (l large) width() int { return max(largeWidth(l.digits), canvas.Width(l.name)) }

// Draw draws the time and the counts side by side. It omits the time if it does not fit.
func (l largeCounts) Draw(a canvas.Area) {
	if a.Empty() {
		return
	}
	all := []large{{format.Span(l.frame.Now.Sub(l.frame.Start)), "since the start", theme.Plain}}
	for _, tier := range [...]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight} {
		all = append(all, large{format.Number(l.frame.Board.Total(tier)), theme.TierName(tier), theme.Tier(tier)})
	}
	room := func() int {
		free := a.W - 1
		for _, each := range all {
			free -= each.width()
		}
		return free / len(all)
	}
	if room() < 1 {
		all = all[1:]
	}
	gap := max(1, room())
	x := 1
	for _, each := range all {
		cell := a.Sub(x, 0, each.width(), a.H)
		drawLarge(cell, each.style|canvas.Bold, each.digits)
		cell.Text(0, digitHeight, each.style|canvas.Bold, each.name)
		x += each.width() + gap
	}
}

// drawLarge draws digits at the left of a.
func drawLarge(a canvas.Area, style canvas.Style, digits string) {
	x := 0
	for _, digit := range digits {
		rows := digitRows(digit)
		if x+canvas.Width(rows[0]) > a.W {
			return
		}
		for y, row := range rows {
			a.Text(x, y, style, row)
		}
		x += canvas.Width(rows[0]) + 1
	}
}

// largeWidth returns the width of large digits.
func largeWidth(digits string) int {
	w := -1
	for _, digit := range digits {
		w += canvas.Width(digitRows(digit)[0]) + 1
	}
	return w
}

// digitHeight is the height of a large digit.
const digitHeight = 3

// digitRows returns a large digit, a colon or a comma.
func digitRows(r rune) [digitHeight]string {
	digits := [...][digitHeight]string{
		{"█▀█", "█ █", "▀▀▀"}, {"▀█ ", " █ ", "▀▀▀"}, {"▀▀█", "█▀▀", "▀▀▀"}, {"▀▀█", " ▀█", "▀▀▀"}, {"█ █", "▀▀█", "  ▀"},
		{"█▀▀", "▀▀█", "▀▀▀"}, {"█▀▀", "█▀█", "▀▀▀"}, {"▀▀█", "  █", "  ▀"}, {"█▀█", "█▀█", "▀▀▀"}, {"█▀█", "▀▀█", "▀▀▀"},
	}
	if r >= '0' && r <= '9' {
		return digits[r-'0']
	}
	if r == ':' {
		return [digitHeight]string{"▄", "▄", " "}
	}
	return [digitHeight]string{" ", " ", "▄"}
}
