package whatif

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	queueboard "github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/story"
	"github.com/schedq/schedq/tui/theme"
)

// comparison is the page that compares two timelines: the number of pods in each tier, and the pods
// that are in different places.
type comparison struct {
	*page.UI
	board *board.Board // enter works as on the board
	// at is the index of the pod at the cursor, offset the number of pods scrolled out above, h the
	// height.
	at, offset, h int
}

// open compares with the timeline with that ID.
func (c *comparison) open(id int) {
	c.Session.Compare(id)
	c.Pages.Open(c)
	c.at, c.offset = 0, 0
}

// Closed stops the comparison.
func (c *comparison) Closed() { c.Session.Compare(c.TimelineID()) }

func (c *comparison) Context() keymap.Context { return keymap.Board }
func (c *comparison) Layout() string          { return "" }

// Settle implements page.Page. It puts the cursor on the selected pod if that pod differs.
func (c *comparison) Settle(_, h int) {
	c.h = h
	all := c.differences()
	if i := slices.IndexFunc(all, func(d queueboard.Difference) bool { return c.Selected.Any && d.Key == c.Selected.Key }); i >= 0 {
		c.at = i
	}
	rows := max(1, h-comparisonHead)
	c.at = min(c.at, max(0, len(all)-1))
	c.offset = max(min(c.offset, c.at, len(all)-rows), c.at-rows+1, 0)
}

// differences returns the pods on the page.
func (c *comparison) differences() []queueboard.Difference {
	if f := c.Frame.Comparison; f != nil {
		return f.Differences
	}
	return nil
}

// Move selects the pod n rows further. The first step selects the one at the cursor if none is
// selected.
func (c *comparison) Move(n int) {
	all := c.differences()
	if len(all) == 0 {
		return
	}
	if c.selected() || n*n > 1 { // the first step selects the row at the cursor
		c.at = min(max(c.at+n, 0), len(all)-1)
	}
	c.choose(c.at)
}

// choose selects the i-th pod.
func (c *comparison) choose(i int) {
	c.Selected = page.Selection{Key: c.differences()[i].Key, Any: true}
}

// selected reports whether the pod at the cursor is selected.
func (c *comparison) selected() bool {
	all := c.differences()
	return c.Selected.Any && c.at < len(all) && all[c.at].Key == c.Selected.Key
}

func (c *comparison) Rows() int { return max(1, c.h-comparisonHead) }

// Enter explains the pod at the cursor.
func (c *comparison) Enter() tea.Cmd {
	c.choose(c.at)
	c.board.Why.Open()
	return nil
}

func (c *comparison) EnterName() string { return "why?" }
func (c *comparison) CannotEnter() string {
	if len(c.differences()) == 0 {
		return "no pod differs"
	}
	return ""
}

// Click selects the pod of a row.
func (c *comparison) Click(_, y int) tea.Cmd {
	if i := y - comparisonHead + c.offset; y >= comparisonHead && i < len(c.differences()) {
		c.choose(i)
	}
	return nil
}

// Wheel implements page.Page.
func (c *comparison) Wheel(t page.Turn) {
	if !t.Sideways && len(c.differences()) > 0 {
		c.choose(min(max(c.at+t.Rows, 0), len(c.differences())-1))
	}
}

// comparedTiers are the tiers whose sizes are compared.
var comparedTiers = [...]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight}

// comparisonHead is the number of lines above the pods: title, names, sizes, bound pods, a blank
// line and a heading.
const comparisonHead = 2 + len(comparedTiers) + 3

// Draw draws the sizes, and below them as many pods as fit.
func (c *comparison) Draw(a canvas.Area) {
	a.Row(0).Fill(theme.Dim, "─")
	a.Text(1, 0, canvas.Bold|theme.Chosen, " compare ")
	f := c.Frame.Comparison
	if f == nil {
		for y, line := range canvas.Wrap(c.Keys.Say("This timeline can't be compared with itself. {what-ifs} goes to another one, {back} closes."), a.W-3) {
			a.Text(2, 2+y, theme.Dim, line)
		}
		return
	}
	at := " at " + c.Frame.Zone.Precise(f.At[0])
	if !f.At[0].Equal(f.At[1]) { // the other's last action settled later
		at += " and at " + c.Frame.Zone.Precise(f.At[1])
	}
	a.Text(12, 0, theme.Dim, at+" ")
	first := min(max(a.W*2/5, 20), 44)
	second := first + (a.W-first)/2
	columns := [2]canvas.Area{a.Sub(first, 0, second-first-1, a.H), a.Sub(second, 0, a.W-second-1, a.H)}
	for i, name := range f.Names {
		columns[i].Text(0, 1, theme.Accent|canvas.Bold, canvas.Truncate(format.Safe(string(name)), columns[i].W))
	}
	size := func(y int, name string, style canvas.Style, sizes [2]int) {
		a.Text(2, y, style, name)
		for i, n := range sizes {
			x := columns[i].Text(0, y, canvas.Bold, format.Number(n))
			if difference := n - sizes[0]; i == 1 && difference != 0 {
				columns[i].Text(x+1, y, theme.Backoff, signed(difference))
			}
		}
	}
	for i, tier := range comparedTiers {
		size(2+i, theme.TierName(tier), theme.Tier(tier), [2]int{f.Sizes[0][tier], f.Sizes[1][tier]})
	}
	y := 2 + len(comparedTiers)
	size(y, "bound", theme.Scheduled, f.Bound)
	y += 2
	if f.Total == 0 {
		a.Text(2, y, theme.Dim, "Every pod is in the same place in both.")
		return
	}
	a.Text(2, y, theme.Dim, format.Plural(f.Total, "pod")+" in a different place, on another node or with other attempts:")
	for n := 0; n < len(f.Differences)-c.offset && y+1+n < a.H; n++ {
		d := f.Differences[c.offset+n]
		c.difference(a.Row(y+1+n), columns, y+1+n, first, d)
		switch {
		case c.offset+n != c.at:
		case c.selected():
			a.Row(y + 1 + n).Restyle(theme.Chosen)
		default:
			a.Text(0, y+1+n, theme.Dim, "·")
		}
	}
}

// difference draws one pod in both timelines.
func (c *comparison) difference(row canvas.Area, columns [2]canvas.Area, y, first int, d queueboard.Difference) {
	row.Text(2, 0, theme.Plain, canvas.TruncateMiddle(story.PodName(d.Key, first-4), first-4))
	for i, p := range d.Pods {
		if p == nil {
			columns[i].Text(0, y, theme.Dim, "— absent")
			continue
		}
		text, attempts := theme.Provenance(p.Observed)+" "+theme.TierName(p.Tier), ""
		if p.Attempts > 0 {
			attempts = " · " + p.AttemptCount().Attempts()
		}
		switch {
		case p.Tier == queue.Scheduled && p.Node != "":
			text += " on " + format.Safe(p.Node)
		case len(p.RejectorPlugins()) > 0 && (p.Tier == queue.Unschedulable || p.Tier == queue.Backoff):
			room := columns[i].W - canvas.Width(text) - 1
			if beside := room - canvas.Width(attempts); beside >= 20 {
				room = beside
			} else {
				attempts = "" // the plugins matter more
			}
			text += " " + board.PluginNames(p.RejectorPlugins(), room)
		}
		columns[i].Text(0, y, theme.Tier(p.Tier), canvas.Truncate(text+attempts, columns[i].W))
	}
}

// signed formats n with its sign.
func signed(n int) string {
	if n < 0 {
		return "−" + format.Number(-n)
	}
	return "+" + format.Number(n)
}
