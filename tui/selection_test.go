package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/theme"
)

// marked returns the selected rows of the screen.
func (p *person) marked() string {
	var rows []string
	for row := range strings.Lines(p.screen()) {
		if _, after, found := strings.Cut(row, theme.GlyphSelected); found {
			rows = append(rows, strings.Join(strings.Fields(after)[:2], " "))
		}
	}
	return strings.Join(rows, ", ")
}

func TestSelectionFollowsThePod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo("10:36:05.3").do(keymap.FocusUnsched, keymap.RowDown, keymap.RowDown, keymap.RowDown)
		if got := p.marked(); !strings.HasPrefix(got, "● batch-1") {
			t.Fatalf("selected: %s", got)
		}
		p.do(keymap.StepForward) // moves to backoffQ, and stays selected
		p.seesTogether("│▸● batch-1", "0.4s", "1.6s")
		p.do(keymap.Open).sees("default/batch-1", "backoffQ since 10:36:05.400").do(keymap.Open)

		// The focus stays in the old pane, on the same row, where the next key selects.
		p.do(keymap.RowDown).sees("┃▸●⊘held-1")
	})
}

func TestFirstKeySelectsTheFirstRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment)
		p.do(keymap.FocusActive, keymap.RowDown).sees("▸● urgent-1")
		p.do(keymap.RowDown).sees("▸● web-2")
		p.do(keymap.RowDown).sees("▸● web-2")
		p.do(keymap.FirstRow).sees("▸● urgent-1")
		p.do(keymap.LastRow).sees("▸● web-2")
		p.do(keymap.FocusFlight, keymap.RowDown).sees("━▸● web-3")
	})
}

// TestEnterIsAboutTheRowAtTheCursor: without a selection, enter explains the pod at the cursor.
func TestEnterIsAboutTheRowAtTheCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusActive).sees("┃·● urgent-1").do(keymap.Open).sees("default/urgent-1", "esc: back")
		p.do(keymap.Back).sees("▸● urgent-1")
	})
}

func TestLongListsScroll(t *testing.T) {
	var script strings.Builder
	for i := range 50 {
		fmt.Fprintf(&script, "%d.%03d p-%02d active UnscheduledPodAdd\n", i/10, i%10, i)
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, script.String()), Options{})
		p.goTo("end").do(keymap.FocusActive)
		p.sees("p-00", "1–16 of 50").seesNot("p-16  ")
		p.do(keymap.PageDown).sees("▸● p-15").do(keymap.PageDown).sees("▸● p-30", "16–31 of 50")
		p.do(keymap.RowUp).sees("▸● p-29", "16–31 of 50") // scrolls only if needed
		p.do(keymap.LastRow).sees("▸● p-49", "35–50 of 50")
		p.do(keymap.FirstRow).sees("▸● p-00", "1–16 of 50")

		p.program.Send(tea.MouseWheelMsg{X: 5, Y: 10, Button: tea.MouseWheelDown})
		p.idle()
		p.sees("4–19 of 50") // the wheel scrolls and selects nothing
		p.program.Send(tea.MouseClickMsg{X: 5, Y: 5, Button: tea.MouseLeft})
		p.idle()
		p.sees("▸● p-03", "4–19 of 50")
	})
}

func TestFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.Filter)
		for _, letter := range []string{"w", "e", "b"} {
			p.press(letter)
		}
		p.sees("filter: web", "activeQ 2", "● web-2").press("enter")
		p.sees(" / web", "backoffQ 2, 0 match", "No pod here matches the filter")
		p.do(keymap.Filter)
		p.press("x")
		p.sees("activeQ 2, 0 match").press("esc") // restores the previous filter
		p.sees(" / web", "● web-2")
		p.do(keymap.Back).seesNot("match the filter").seesNot("0 match").sees("● batch-1")
	})
}

func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo("end").do(keymap.FocusLog)
		p.sees("10:36:08.1 ● err-1")
		p.do(keymap.RowUp).sees("▸10:36:08.0 ● batch-1         backoff→active   BackoffComplete")
		for range 8 {
			p.do(keymap.RowUp)
		}
		p.sees("older moves; G goes back", "▸10:36:05.5 ● err-1           new→active").seesNot("web-3  ")

		p.do(keymap.Open) // enter goes to that moment
		p.sees("10:36:05.500", "▸● err-1").seesNot("older moves")
		p.do(keymap.FirstRow).sees("▸10:36:01.0 ● web-1").do(keymap.LastRow).sees("10:36:05.5 ● err-1")
	})
}

// TestLogLeavesOutWhatIsOnlyRestated: the log omits moves from a tier to the same tier.
func TestLogLeavesOutWhatIsOnlyRestated(t *testing.T) {
	script := sample + strings.Repeat("9 web-2 active BackoffComplete\n", 300)
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, script), Options{})
		p.goTo("end")
		if n := strings.Count(p.screen(), "web-2             active→active"); n > 0 {
			t.Errorf("%d restated moves are shown:\n%s", n, p.screen())
		}
	})
}
