package tui

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// TestFlow: the strip below the title counts the pods in each place, forwards and backwards.
func TestFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo("+1.05s").sees("new → activeQ 1 → in-flight 0 → ✓ bound 0")
		p.goTo("+0.1s").sees("activeQ 0 → in-flight 1 → ✓ bound 0")
		p.goTo("+0.1s").sees("activeQ 0 → in-flight 0 → ✓ bound 1")
		p.do(keymap.StepBack).sees("in-flight 1 → ✓ bound 0") // the binding is undone
		p.goTo(moment).sees("→ ✓ bound 1, or rejected → unschedulable 2 · gated 1 ─ event → backoffQ 2 → activeQ")
	})
}

// TestTheFirstScreenExplainsItself: until the first key a line explains the board's terms, and the
// help begins with the current view.
func TestTheFirstScreenExplainsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.sees("waits: total  "+theme.GlyphObserved+": observed  "+theme.GlyphModelled+": modelled  +1: one more  att: attempts", "a recording of kube-scheduler v1.37.1")
		p.do(keymap.StepForward).seesNot("waits: total")
		p.do(keymap.Help).sees("What am I looking at", "The queue inside kube-scheduler: pods without a node.")
	})
}

// TestAge: each pane shows how long its pods have waited, and a backoff after an error is marked.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).seesTogether("urgent-1↑", "0.3s", "batch-1", "1.5s", "train-0", "4.5s")
		wide := sit(t, 200, 60, paused(t, sample), Options{})
		wide.goTo(moment).sees("an error")
	})
}

// TestNoticesGiveWayToTheLegend: a notice about the source is shown at first, and stays in the
// help.
func TestNoticesGiveWayToTheLegend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, session.New(tell(t, "1 early active UnscheduledPodAdd"), timeline.Options{Paused: true}), Options{})
		p.sees("This recording contains no audit log").seesNot("waits: total").wait(page.NoticeTime)
		p.sees("waits: total").do(keymap.StepForward, keymap.FocusLog).sees("waits: total")
		p.do(keymap.Help).types("audit log").sees("notice", "This recording contains no audit log")
	})
}

// unmarked is the sample without its marks, which the status line would show.
var unmarked = regexp.MustCompile(`(?m)^.* mark .*\n`).ReplaceAllString(sample, "")

// TestTheLegendNamesWhatIsShown: each term of the legend is the heading of a column.
func TestTheLegendNamesWhatIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, unmarked), Options{})
		for w := minWidth; w <= 200; w += 5 {
			p.resize(w, 24)
			p.do(keymap.Seek).enter(moment).do(keymap.FocusUnsched)
			legend := p.answer()
			headings := strings.Fields(strings.NewReplacer("│", " ", "┃", " ").Replace(p.row(4) + " " + p.row(5)))
			for _, word := range []string{"waits", "left", "att", "flush"} {
				if strings.Contains(legend, word+":") && !slices.Contains(headings, word) {
					t.Errorf("at %d columns the legend has %q, and the headings are %q", w, word, headings)
				}
			}
			if !strings.Contains(legend, "waits:") {
				t.Errorf("at %d columns the legend is missing: %q", w, legend)
			}
		}
	})
}

// TestTheTitleIsNotCutSilently: a title that does not fit ends with an ellipsis.
func TestTheTitleIsNotCutSilently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 200, 24, paused(t, sample), Options{})
		whole := p.row(0)
		for w := minWidth; w < 200; w++ {
			p.resize(w, 24)
			if row := p.row(0); row != whole && !strings.Contains(row, "…") {
				t.Errorf("at %d columns the title is %q", w, row)
			}
		}
	})
}
