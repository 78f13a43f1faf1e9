package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

var update = flag.Bool("update", false, "write the golden screens in testdata")

// golden compares a screen with the file of that name.
func golden(t *testing.T, name, screen string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(screen), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if screen != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, screen, want)
	}
}

// The moment of the golden screens: a pod in every place, and one of them selected.
const moment = "10:36:06.5"

var sizes = [][2]int{{60, 20}, {80, 24}, {120, 40}, {200, 60}}

func TestScreens(t *testing.T) {
	for _, size := range sizes {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := sit(t, size[0], size[1], paused(t, sample), Options{})
				p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
				golden(t, name, p.screen())
				golden(t, name+"-styles", p.styles())

				p.do(keymap.WhatIf)
				golden(t, name+"-what-if", p.screen())
				p.do(keymap.Pop, keymap.Reject)
				golden(t, name+"-reject", p.screen())
			})
		})
	}
}

func TestScreensWithoutColor(t *testing.T) {
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, size[0], size[1], paused(t, sample), Options{NoColor: true})
			p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
			golden(t, fmt.Sprintf("%dx%d", size[0], size[1]), p.screen()) // the same text as in colour
			for y := range p.terminal.Height() {
				for x := range p.terminal.Width() {
					if c := p.terminal.CellAt(x, y); c != nil && (c.Style.Fg != nil || c.Style.Bg != nil) {
						t.Fatalf("the cell at %d, %d has a colour: %+v", x, y, c)
					}
				}
			}
		})
	}
}

func TestZoomedScreens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
		golden(t, "detail", p.do(keymap.Open).screen())
		golden(t, "zoomed-pane", p.do(keymap.Open, keymap.Zoom).screen())
		golden(t, "zoomed-log", p.do(keymap.Zoom, keymap.FocusLog, keymap.Zoom).screen())
		golden(t, "help", p.do(keymap.Zoom, keymap.Help).screen())
	})
}

func TestEmptyBoardTeaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.sees("No pod is ready", "No pod backs off", "No pod is unschedulable", "no attempt is under way", "No pod has moved yet", "No pod is selected")
		golden(t, "empty", p.screen())
	})
}
