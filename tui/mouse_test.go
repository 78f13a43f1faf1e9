package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
)

// clicks clicks on the first place of the text on the screen.
func (p *person) clicks(text string) *person {
	p.t.Helper()
	y := p.rowOf(text)
	row := p.row(y)
	p.clickAt(utf8.RuneCountInString(row[:strings.Index(row, text)]), y)
	return p
}

func (p *person) clickAt(x, y int) {
	p.program.Send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	p.program.Send(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
	p.idle()
}

func (p *person) turns(m tea.Mouse) *person {
	p.program.Send(tea.MouseWheelMsg(m))
	p.idle()
	return p
}

func TestClicksSelectAndOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).clicks("err-1  ").sees("▸● err-1")
		p.clicks("err-1  ").sees("default/err-1", "esc: back") // a second click opens why?
		p.do(keymap.Back).clicks("5 log").clicks("held-1  ").sees("▸●⊘held-1")
		p.clicks("? help").sees("help: type to search")
		p.clicks("Pause and go one move forward").seesNot("help: type to search") // in a list, a click chooses
	})
}

func TestClicksInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).clicks("web-2           new→active").sees("▸10:36:06.3 ● web-2")
		p.clicks("web-2           new→active").sees("10:36:06.300") // a second click goes there
	})
}

func TestClicksOnTheBarPressItsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 100, 24, paused(t, sample), Options{})
		p.goTo(moment).clicks("w what-if").sees("WHAT-IF").do(keymap.WhatIf)
		p.clicks("/ filter").sees("filter:").clicks("esc cancel").seesNot("filter: ")
	})
}

func TestTabsAreClicked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 60, 20, paused(t, sample), Options{})
		p.goTo(moment).clicks("2 backoffQ").sees("━ 2 backoffQ").clicks("3 unsched").sees("━ 3 unsched")
	})
}

func TestTheProgressLineIsDragged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		line := p.model.mouse.progress
		p.clickAt(line.X+line.W-1, line.Y)
		p.sees("■ at the end")
		p.program.Send(tea.MouseClickMsg{X: line.X + line.W/2, Y: line.Y, Button: tea.MouseLeft})
		p.program.Send(tea.MouseMotionMsg{X: line.X, Y: line.Y + 5, Button: tea.MouseLeft}) // leaving the line continues the drag
		p.idle()
		p.sees("0:00/0:08")
		p.program.Send(tea.MouseReleaseMsg{})
		p.program.Send(tea.MouseMotionMsg{X: line.X + line.W - 1, Y: line.Y})
		p.idle()
		p.sees("0:00/0:08")
	})
}

func TestTheWheelScrollsAndScalesCharts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Lanes).clicks("● train-0").sees("▸● train-0")
		p.turns(tea.Mouse{X: 5, Y: 10, Button: tea.MouseWheelDown}).sees("▸● batch-1")
		p.turns(tea.Mouse{X: 60, Y: 10, Button: tea.MouseWheelLeft}).sees("0 follows again")
		p.turns(tea.Mouse{X: 60, Y: 10, Button: tea.MouseWheelDown, Mod: tea.ModShift}).seesNot("0 follows again")
		p.turns(tea.Mouse{X: 60, Y: 10, Button: tea.MouseWheelDown, Mod: tea.ModCtrl}).sees("500ms a column")
	})
}

// TestTheWheelScrollsAComparison: the wheel scrolls a comparison, like any long page.
func TestTheWheelScrollsAComparison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 20, paused(t, sample), Options{})
		p.goTo("+1s").do(keymap.WhatIf).goTo(moment).do(keymap.Compare).sees("batch-1")
		p.turns(tea.Mouse{X: 5, Y: 10, Button: tea.MouseWheelDown})
		p.turns(tea.Mouse{X: 5, Y: 10, Button: tea.MouseWheelDown}).seesNot("batch-1")
		p.turns(tea.Mouse{X: 5, Y: 10, Button: tea.MouseWheelUp})
		p.turns(tea.Mouse{X: 5, Y: 10, Button: tea.MouseWheelUp}).sees("batch-1")
	})
}
