package chart

import (
	"math"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// stack shows the size of the queue over time, stacked by tier.
type stack struct {
	timed
	columns []sizes
	top     int // the largest total of a column
}

// sizes are the numbers of pods in the tiers of stacked. If unknown, the first one is -1.
type sizes [len(stacked)]int

// stacked are the tiers from the bottom up with their letters. The tier nearest to a node is at the
// bottom.
var stacked = [...]struct {
	tier   queue.Tier
	letter string
}{{queue.InFlight, "f"}, {queue.Active, "a"}, {queue.Backoff, "b"}, {queue.Unschedulable, "u"}, {queue.Gated, "g"}}

func newStack(d *page.UI) Chart { return &stack{timed: timed{UI: d}} }

func (s *stack) Reset()         { *s = stack{timed: timed{UI: s.UI}} }
func (s *stack) Key() keymap.ID { return keymap.Stack }
func (s *stack) Name() string   { return "stack" }
func (s *stack) Layout() string { return "stack" }

func (s *stack) Enter() tea.Cmd    { return nil }
func (s *stack) EnterName() string { return "" }
func (s *stack) CannotEnter() string {
	return s.Keys.Say("the stack shows all pods together: {lanes} shows single ones, {back} closes")
}
func (s *stack) Move(int)               {}
func (s *stack) Click(int, int) tea.Cmd { return nil }
func (s *stack) Wheel(by page.Turn)     { s.turned(by) }

// Settle implements page.Page. It updates the window and reads the visible seconds.
func (s *stack) Settle(w, h int) {
	s.w, s.h = w, h
	f := s.Frame
	s.Least = time.Second // tallies are per second
	cells := max(w-stackScale, 1)
	s.Window.Settle(cells, f.Now, widget.ScaleFor(widget.SinceStart(f, plotsSpan), cells, s.Least))
	s.columns, s.top = s.columns[:0], 0
	p, all := s.Shown, f.Series
	i := all.Since(p.From)
	for x := range min(p.Cells, p.Column(f.Now)+1) {
		column := sizes{-1}
		if i > 0 {
			column = tally(all.At(i - 1).Sizes)
		}
		for ; i < all.Len() && !all.At(i).End.After(p.At(x+1)); i++ {
			if next := tally(all.At(i).Sizes); next.total() >= column.total() {
				column = next
			}
		}
		if x == p.Column(f.Now) {
			for i := range stacked {
				column[i] = f.Board.Total(stacked[i].tier)
			}
		}
		s.columns = append(s.columns, column)
		s.top = max(s.top, column.total())
	}
}

func tally(of [queue.InFlight + 1]int32) (s sizes) {
	for i := range stacked {
		s[i] = int(of[stacked[i].tier])
	}
	return s
}

// total returns the number of pods, or -1.
func (s sizes) total() int {
	if s[0] < 0 {
		return -1
	}
	n := 0
	for _, pods := range s {
		n += pods
	}
	return n
}

// stackScale is the width of the numbers at the left.
const stackScale = 8

// Draw implements page.Page.
func (s *stack) Draw(a canvas.Area) {
	s.Title(a.Row(0), "stack", "")
	body := a.Sub(0, 1, a.W, a.H-1)
	if s.top <= 0 {
		widget.DrawEmpty(body, s.Keys.Say("Nothing to draw yet. The tier sizes appear as time passes. {play} starts playback, {seek-end} goes to the end."))
		return
	}
	rows := body.H - 2
	s.legend(body.Row(0))
	s.Shown.Axis(body.Sub(stackScale, body.H-1, s.Shown.Cells, 1), s.Frame)
	body.Right(stackScale-1, 1, theme.Dim, format.Number(s.top))
	body.Right(stackScale-1, rows, theme.Dim, "0")
	for x, column := range s.columns {
		s.column(body.Sub(stackScale+x, 1, 1, rows), column)
	}
}

// legend draws the letters, with the current size of each tier.
func (s *stack) legend(a canvas.Area) {
	x := 1
	for i := len(stacked) - 1; i >= 0; i-- {
		tier := stacked[i].tier
		x = a.Text(x, 0, theme.Tier(tier), stacked[i].letter+" "+theme.TierName(tier)+" "+format.Number(s.Frame.Board.Total(tier))) + 2
	}
}

// column draws one column from the bottom up. A tier with a pod gets at least one cell while there
// is space.
func (s *stack) column(a canvas.Area, pods sizes) {
	y, below := a.H, 0
	for i, n := range pods {
		if n <= 0 {
			continue
		}
		below += n
		to := min(a.H-int(math.Round(float64(below)/float64(s.top)*float64(a.H))), y-1)
		for ; y > max(to, 0); y-- {
			a.Text(0, y-1, theme.Tier(stacked[i].tier), stacked[i].letter)
		}
	}
}
