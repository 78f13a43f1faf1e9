package tui

import (
	"context"
	"errors"
	"image/color"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/theme"
)

func TestTooSmallATerminalSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 50, 12, paused(t, sample), Options{})
		p.sees("schedq needs a terminal of 60×20.", "50×12")
		p.do(keymap.Play, keymap.Help) // keys have no effect on a screen that is too small
		p.resize(80, 24)
		p.sees("‖ paused", "1 activeQ").seesNot("type to search")
		p.resize(20, 3)
		p.sees("schedq needs")
		p.do(keymap.Quit)
		if err := <-p.over; err != nil {
			t.Error(err)
		}
	})
}

func TestResizeKeepsWhatIsSelectedInSight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 200, 60, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.LastRow, keymap.Help)
		for _, size := range [][2]int{{60, 20}, {300, 20}, {60, 100}, {10, 5}, {1, 1}, {80, 24}, {120, 40}} {
			p.resize(size[0], size[1])
			if got := strings.Count(p.screen(), "\n"); got != size[1] {
				t.Errorf("at %v the screen has %d rows", size, got)
			}
		}
		p.press("esc")
		p.sees("▸●⊘held-1")
	})
}

func TestLeavingRestoresTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		if !p.terminal.IsAltScreen() {
			t.Error("the program does not use the alternate screen")
		}
		p.do(keymap.Quit)
		if err := <-p.over; err != nil || p.terminal.IsAltScreen() {
			t.Errorf("after quitting: %v, alternate screen: %t", err, p.terminal.IsAltScreen())
		}
		if strings.Contains(p.written.String(), "\x1b]2;") {
			t.Error("the window's title was set")
		}
	})
}

func TestMouseCanBeLeftToTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const on, off = "\x1b[?1002h", "\x1b[?1002l"
		p := sit(t, 80, 24, paused(t, sample), Options{})
		if !strings.Contains(p.written.String(), on) || strings.Contains(p.written.String(), off) {
			t.Error("the mouse is off at the start")
		}
		if p.do(keymap.Mouse); !strings.Contains(p.written.String(), off) {
			t.Error("the key does not turn the mouse off")
		}
	})
}

func TestSwitchingRecordings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := Options{Recordings: []Recording{
			{Name: "quiet", Title: "Nothing happens", Description: "One pod comes and stays.", Open: func(context.Context, func(float64)) (*session.Session, error) {
				rec := tell(t, "1 lonely active UnscheduledPodAdd")
				rec.Name = sources.Sanitize("quiet")
				return session.New(rec, timeline.Options{Paused: true}), nil
			}},
			{Name: "broken", Title: "Cannot be read", Open: func(context.Context, func(float64)) (*session.Session, error) {
				return nil, errors.New("line 3 is no JSON")
			}},
		}}
		p := sit(t, 80, 24, paused(t, sample), options)
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.Recordings)
		p.sees("quiet", "Nothing happens", "One pod comes and stays.", "broken")

		p.enter("broken").sees("can't: open broken: line 3 is no JSON", "sample")
		p.do(keymap.Recordings).enter("quiet")
		p.sees(" quiet — a recording of kube-scheduler").seesNot("sample")
		p.do(keymap.StepForward).sees("● lonely")
	})
}

func TestLightBackgroundHasItsOwnColors(t *testing.T) {
	if *theme.NewPalette(theme.Auto, true, false, false) == *theme.NewPalette(theme.Auto, false, false, false) {
		t.Error("dark and light are the same")
	}
	m := newModel(context.Background(), paused(t, sample), Options{})
	m.Update(tea.BackgroundColorMsg{Color: color.White})
	if *m.looks.palette == *theme.NewPalette(theme.Auto, true, false, false) {
		t.Error("the terminal's background colour changes nothing")
	}
}

func TestWithoutATerminalRunRefuses(t *testing.T) {
	if err := Run(t.Context(), paused(t, sample), Options{}); !errors.Is(err, ErrNoTerminal) {
		t.Errorf("Run returns %v", err)
	}
}
