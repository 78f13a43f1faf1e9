package chart

import (
	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// Chart is a page that draws history over time.
type Chart interface {
	page.Page
	// Key is the action that opens and closes the chart, Name its name. CannotOpen says why it
	// can't be opened.
	Key() keymap.ID
	Name() string
	CannotOpen() string
	// Span returns the visible period.
	Span() *widget.Window
	// Reset prepares the chart for another session.
	Reset()
}

// lanesLead is the part of the width, as a divisor, for the time after the current moment.
const lanesLead = 8

// timed is the common part of all charts.
type timed struct {
	*page.UI
	widget.Window
	w, h int // size in cells
}

func (t *timed) Context() keymap.Context { return keymap.Chart }
func (t *timed) Layout() string          { return "" }
func (t *timed) Span() *widget.Window    { return &t.Window }
func (t *timed) CannotOpen() string      { return "" }
func (t *timed) Rows() int               { return max(1, laneRows(t.h)-1) }

// turned scrolls or scales the chart for a turn of the wheel, and reports whether it did.
func (t *timed) turned(by page.Turn) bool {
	switch {
	case by.Scaling:
		t.Scale(by.Rows / page.TurnRows)
	case by.Sideways:
		t.Scroll(by.Rows)
	default:
		return false
	}
	return true
}

// Add adds the actions that open charts and move in them.
func Add(d *page.UI, charts []Chart, all page.Actions) {
	for _, c := range charts {
		all[c.Key()] = toggle(d, c)
	}
	inChart := func(do func(*widget.Window)) page.Action {
		return page.Command(func() { do(d.Pages.Top().(Chart).Span()) }).DisabledWhen(func() string {
			if !d.Pages.InChart() {
				return d.Keys.Say("only in a chart: {timeline}, {lanes}, {plots} and {stack} open one")
			}
			return ""
		})
	}
	all[keymap.ChartEarlier] = inChart(func(w *widget.Window) { w.Scroll(-max(1, w.Shown.Cells/4)) })
	all[keymap.ChartLater] = inChart(func(w *widget.Window) { w.Scroll(max(1, w.Shown.Cells/4)) })
	all[keymap.ChartCloser] = inChart(func(w *widget.Window) { w.Scale(-1) })
	all[keymap.ChartFarther] = inChart(func(w *widget.Window) { w.Scale(1) })
	all[keymap.ChartFit] = inChart((*widget.Window).Fit)
}

// toggle returns the action that opens or closes c. A chart opened from another chart closes to it.
func toggle(d *page.UI, c Chart) page.Action {
	isOpen := func() bool { return d.Pages.Top() == page.Page(c) }
	return page.Command(func() {
		if !isOpen() {
			d.Pages.Open(c)
		} else if d.Frame.Searching != "" {
			d.Session.Pause() // like esc
		} else {
			d.Pages.CloseTop()
		}
	}).DisabledWhen(func() string {
		if isOpen() {
			return ""
		}
		return c.CannotOpen()
	}).NamedBy(func() string {
		if isOpen() {
			return "close " + c.Name()
		}
		return c.Name()
	})
}
