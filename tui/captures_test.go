package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/tui/export"
	"github.com/schedq/schedq/tui/theme"
)

var captures = flag.Bool("captures", false, "draw the screens in docs/captures")

// shots are the captures. All show the embedded recording at one busy moment.
var shots = []struct {
	name, title string
	w, h        int
	on          export.Paper
	options     Options
	open        func(p *person)
}{
	{"board", "The board on an ordinary terminal", 80, 24, export.Dark(), Options{}, func(p *person) { p.do(keymap.FocusBackoff, keymap.RowDown, keymap.RowDown) }},
	{"board-wide", "On a wide one the detail of the selected pod stands beside the log", 200, 60, export.Dark(), Options{}, func(p *person) { p.do(keymap.FocusUnsched, keymap.RowDown) }},
	{"board-narrow", "On a small one the panes are tabs", 60, 20, export.Dark(), Options{}, func(p *person) { p.do(keymap.FocusBackoff, keymap.RowDown) }},
	{"detail", "enter: why the pod waits, until when, and what it lacks", 100, 30, export.Dark(), Options{}, func(p *person) { p.do(keymap.FocusUnsched, keymap.RowDown, keymap.Open) }},
	{"timeline", "v t: one pod's life, drawn to scale, and why it moved each time", 120, 40, export.Dark(), Options{}, timelineShot},
	{"lanes", "v l: all pods' lanes through time", 120, 40, export.Dark(), Options{}, func(p *person) { p.do(keymap.FocusBackoff, keymap.LastRow, keymap.Lanes) }},
	{"plots", "v p: the queue as a whole, beside the scheduler's own counts", 160, 45, export.Dark(), Options{}, func(p *person) { p.do(keymap.Plots) }},
	{"what-if", "w: a what-if, in which you are the scheduler", 120, 40, export.Dark(), Options{}, func(p *person) { p.do(keymap.WhatIf, keymap.InjectEvent).enter("NodeAdd").do(keymap.Pop) }},
	{"event", "e e: which pods an event would move, before it happens", 100, 30, export.Dark(), Options{}, func(p *person) { p.try(keymap.InjectEvent) }},
	{"compare", "W c: a what-if beside the recording", 100, 30, export.Dark(), Options{}, func(p *person) { p.do(keymap.WhatIf, keymap.MoveAll, keymap.Compare) }},
	{"groups", "v g: what the pods wait for, by plugin, namespace and owner", 100, 30, export.Dark(), Options{}, func(p *person) { p.do(keymap.CountGroups) }},
	{"palette", "The palette: everything that can be done, by name", 100, 30, export.Dark(), Options{}, func(p *person) { p.do(keymap.Palette).paste("attempt") }},
	{"help", "?: every key", 100, 30, export.Dark(), Options{}, func(p *person) { p.do(keymap.Help) }},
	{"light", "On a light background", 100, 30, export.Light(), Options{Theme: theme.Light}, func(p *person) { p.do(keymap.FocusBackoff, keymap.RowDown) }},
	{"colour-blind", "Colours for the colour-blind", 120, 40, export.Dark(), Options{Theme: theme.ColorBlind}, func(p *person) { p.do(keymap.FocusBackoff, keymap.RowDown, keymap.Lanes) }},
	{"no-colour", "NO_COLOR", 100, 30, export.Dark(), Options{NoColor: true}, func(p *person) { p.do(keymap.FocusBackoff, keymap.RowDown, keymap.Lanes) }},
	{"projector", "o p: for a room", 120, 40, export.Dark(), Options{}, func(p *person) { p.do(keymap.Projector, keymap.FocusBackoff, keymap.RowDown) }},
}

func timelineShot(p *person) {
	p.do(keymap.FocusBackoff, keymap.LastRow, keymap.Timeline)
}

const capturesFolder = "../docs/captures"

// TestCaptures draws the screens in docs/captures. It is not a test; make captures runs it.
func TestCaptures(t *testing.T) {
	if !*captures {
		t.Skip("draws pictures: make captures")
	}
	if err := os.MkdirAll(capturesFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	rec, plugins := lively(t)
	gallery := "# Screens\n\nScreenshots, made by `make captures`.\n\n![demo](../captures/demo.svg)\n"
	for _, shot := range shots {
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, shot.w, shot.h, session.New(rec, timeline.Options{Paused: true, StartOffset: 92 * time.Second, Plugins: plugins}), shot.options)
			shot.open(p)
			write(t, shot.name+".svg", p.svg(shot.on))
		})
		gallery += fmt.Sprintf("\n## %s\n\n![%s](../captures/%s.svg)\n", shot.title, shot.title, shot.name)
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 100, 28, session.New(rec, timeline.Options{StartOffset: 90 * time.Second, Plugins: plugins}), Options{})
		f := demo(p)
		write(t, "demo.svg", f.svg())
		write(t, "demo.json", f.tape.text())
	})
	recordSessions(t, rec, plugins)
	gallery += "\n## A lesson: the board, and a question below it\n\n![A lesson: the board, and a question below it](../captures/lesson.svg)\n"
	write(t, "../start/screens.md", gallery)
}

// demo records the demo of the README: a minute with the program.
func demo(p *person) *film {
	f := &film{on: export.Dark(), tape: record(p)}
	watch := func(seconds float64, caption string) {
		for range int(seconds * 5) {
			p.wait(200*time.Millisecond - drawn)
			f.shoot(p, 0.2, caption)
		}
	}
	press := func(caption string, seconds float64, ids ...keymap.ID) {
		for i, id := range ids {
			p.do(id)
			if i < len(ids)-1 {
				f.shoot(p, 0.5, caption)
			}
		}
		f.shoot(p, seconds, caption)
	}
	watch(3, "a recording of a real cluster plays: every pod in its tier, with its countdown")
	press("space stops time, 2 goes to backoffQ, j selects a pod", 2, keymap.Play, keymap.FocusBackoff, keymap.RowDown, keymap.RowDown, keymap.RowDown)
	press("enter: why does it wait, and until when?", 3.5, keymap.Open)
	press("v t: its whole life, to scale", 3, keymap.Timeline)
	press("k: an earlier move, and why it was made", 2.5, keymap.RowUp, keymap.RowUp, keymap.RowUp)
	p.do(keymap.Back, keymap.Back)
	press("v l: the lanes of all pods", 3, keymap.Lanes)
	p.do(keymap.Play)
	watch(2.4, "they go on while time passes")
	p.do(keymap.Play)
	press("v p: the queue as a whole", 3, keymap.Plots)
	p.do(keymap.Back, keymap.Back)
	press("w: what if? From here on you are the scheduler", 2.5, keymap.WhatIf)
	p.do(keymap.InjectEvent)
	f.shoot(p, 1.2, "e e: inject a cluster event")
	p.enter("NodeAdd")
	f.shoot(p, 3, "a node is added: see whom it wakes")
	press("p pops the next pod, f: it fits", 2.5, keymap.Pop, keymap.Fits)
	press("w: back to the recording", 2, keymap.WhatIf)
	return f
}

// lively returns the recording to capture, and the plugins for a what-if.
func lively(t *testing.T) (*sources.Recording, *cycle.Plugins) {
	t.Helper()
	rec, err := embedded.Open(t.Context(), "lively-nopop")
	if err != nil {
		t.Fatal(err)
	}
	rec.Name = "A lively cluster" // as the program calls it
	plugins, err := cycle.InTree()
	if err != nil {
		t.Fatal(err)
	}
	return rec, plugins
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(capturesFolder, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSVG: the capture of a screen is well-formed XML and contains the screen's text.
func TestSVG(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment)
		f := &film{on: export.Dark()}
		f.shoot(p, 1, "a < b")
		f.shoot(p, 1, "a < b")
		p.do(keymap.Lanes)
		f.shoot(p, 1, "lanes")
		if len(f.frames) != 2 {
			t.Errorf("showing the same screen twice yields %d frames", len(f.frames))
		}
		for _, svg := range []string{p.svg(export.Light()), f.svg()} {
			wellFormed(t, svg)
			for _, text := range []string{"urgent-1", "lanes"} {
				if !strings.Contains(svg, text) {
					t.Errorf("%q is not in the capture", text)
				}
			}
		}
	})
}
