package chart

import (
	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// Chart is a page that draws what happened through time.
type Chart interface {
	page.Page
	// Key opens it, under its name, and closes it; cannotOpen is why it can't be opened.
	Key() keymap.ID
	Name() string
	CannotOpen() string
	// Span is the period that it shows.
	Span() *widget.Window
	// Reset begins with another session.
	Reset()
}

// lanesLead is which part of the width is for what is to come, where a chart goes beyond the moment shown.
const lanesLead = 8

// timed is what all charts have.
type timed struct {
	*page.UI
	widget.Window
	w, h int // of its room
}

func (t *timed) Context() keymap.Context { return keymap.Chart }
func (t *timed) Layout() string          { return "" }
func (t *timed) Span() *widget.Window    { return &t.Window }
func (t *timed) CannotOpen() string      { return "" }
func (t *timed) Rows() int               { return max(1, laneRows(t.h)-1) }

// turned scrolls or scales the chart if that is how the wheel was turned.
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

// Add adds what opens charts and moves in them.
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

// toggle opens c, or closes it if it is open. One that was opened from another chart closes to that one.
func toggle(d *page.UI, c Chart) page.Action {
	isOpen := func() bool { return d.Pages.Top() == page.Page(c) }
	return page.Command(func() {
		if !isOpen() {
			d.Pages.Open(c)
		} else if d.Frame.Searching != "" {
			d.Session.Pause() // esc would do no more, either
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
