package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/theme"
)

var update = flag.Bool("update", false, "write the golden screens in testdata")

// golden compares a screen with the golden file of that name.
func golden(t *testing.T, name, screen string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
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

// moment is the time of the golden screens: there is a pod in every place.
const moment = "10:36:06.5"

var sizes = [][2]int{{60, 20}, {80, 24}, {100, 30}, {120, 40}, {200, 60}}

// views are all views, and how to open them from the board at that moment with an unschedulable pod
// selected.
var views = []struct {
	name string
	open func(p *person)
}{
	{"board", func(*person) {}},
	{"empty", func(p *person) { p.do(keymap.SeekStart) }},
	{"what-if", func(p *person) { p.do(keymap.WhatIf) }},
	{"reject", func(p *person) { p.do(keymap.WhatIf, keymap.Pop, keymap.Reject) }},
	{"detail", func(p *person) { p.do(keymap.Open) }},
	{"zoomed-active", func(p *person) { p.do(keymap.FocusActive, keymap.Zoom) }},
	{"zoomed-backoff", func(p *person) { p.do(keymap.FocusBackoff, keymap.Zoom) }},
	{"zoomed-unschedulable", func(p *person) { p.do(keymap.Zoom) }},
	{"zoomed-log", func(p *person) { p.do(keymap.FocusLog, keymap.Zoom) }},
	{"timeline", func(p *person) { p.do(keymap.Timeline) }},
	{"timeline-move", func(p *person) { p.do(keymap.Timeline, keymap.RowUp) }},
	{"timeline-none", func(p *person) { p.do(keymap.Timeline, keymap.SeekStart) }},
	{"lanes", func(p *person) { p.do(keymap.Lanes) }},
	{"lanes-none", func(p *person) { p.do(keymap.SeekStart, keymap.Lanes) }},
	{"lanes-earlier", func(p *person) { p.do(keymap.Lanes, keymap.ChartCloser, keymap.ChartCloser, keymap.ChartEarlier) }},
	{"plots", func(p *person) { p.do(keymap.Plots) }},
	{"plots-none", func(p *person) { p.do(keymap.SeekStart, keymap.Plots) }},
	{"stack", func(p *person) { p.do(keymap.Stack) }},
	{"projector", func(p *person) { p.do(keymap.Projector) }},
	{"help", func(p *person) { p.do(keymap.Help) }},
	{"palette", func(p *person) { p.do(keymap.Palette) }},
	{"go-to", func(p *person) { p.press("g") }},
	{"change", func(p *person) { p.press("e") }},
	{"siblings", func(p *person) { p.do(keymap.GoToPod).enter("web-2").do(keymap.Siblings) }},
	{"groups", func(p *person) { p.do(keymap.CountGroups) }},
	{"start-what-if", func(p *person) { p.do(keymap.DeletePod) }},
	{"event", func(p *person) { p.try(keymap.InjectEvent) }},
	{"forks", func(p *person) { p.do(keymap.WhatIf, keymap.MoveAll, keymap.Branch, keymap.Forks) }},
	{"compare", func(p *person) { p.do(keymap.WhatIf, keymap.MoveAll, keymap.Compare) }},
	{"copy", func(p *person) { p.do(keymap.CopyMore) }},
	{"sort", func(p *person) { p.do(keymap.Sort) }},
	{"releases", func(p *person) { p.do(keymap.Rerun) }},
	{"filter", func(p *person) { p.do(keymap.Filter).paste("cart") }},
}

// TestScreens: every view at every size matches its golden file, which has the screen and below it
// the styles (see person.styles). Without colours the text is the same, and in ASCII every cell is
// the same or its replacement. Golden files in ASCII exist for every view at 80 by 24, and for the
// board at every size.
func TestScreens(t *testing.T) {
	for _, view := range views {
		t.Run(view.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range sizes {
				synctest.Test(t, func(t *testing.T) {
					draw := func(opts Options) *person {
						p := sit(t, size[0], size[1], paused(t, sample), opts)
						p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
						view.open(p)
						return p
					}
					p := draw(Options{})
					screen := p.screen()
					golden(t, fmt.Sprintf("%s/%dx%d", view.name, size[0], size[1]), screen+"\n"+p.styles())

					without := draw(Options{NoColor: true})
					if got := without.screen(); got != screen {
						t.Errorf("without colours the screen is\n%s\nand with colours\n%s", got, screen)
					}
					without.seesNoColor()

					ascii := draw(Options{Glyphs: theme.GlyphsASCII}).screen()
					if want := inASCII(screen); ascii != want {
						t.Errorf("in ASCII the screen is\n%s\nwant\n%s", ascii, want)
					}
					if view.name == "board" || size == sizes[1] {
						golden(t, fmt.Sprintf("ascii/%s-%dx%d", view.name, size[0], size[1]), ascii)
					}
				})
			}
		})
	}
}

// inASCII returns the screen with every character replaced as in ASCII mode.
func inASCII(screen string) string {
	translate := theme.GlyphsASCII.Translate()
	var ascii strings.Builder
	for _, r := range screen {
		if r < utf8.RuneSelf {
			ascii.WriteRune(r)
		} else {
			ascii.WriteString(translate(string(r)))
		}
	}
	return ascii.String()
}

// seesNoColor fails the test if any cell has a colour.
func (p *person) seesNoColor() {
	p.t.Helper()
	for y := range p.terminal.Height() {
		for x := range p.terminal.Width() {
			if c := p.terminal.CellAt(x, y); c != nil && (c.Style.Fg != nil || c.Style.Bg != nil) {
				p.t.Fatalf("the cell at %d, %d has a colour: %+v", x, y, c)
			}
		}
	}
}

func TestEmptyBoardTeaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.sees("No pod is ready", "No pod is backing off", "No pod is unschedulable", "no attempt running", "No pod has moved yet", "No pod is selected")
	})
}
