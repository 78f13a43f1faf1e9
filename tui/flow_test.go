package tui

import (
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/theme"
)

// TestFlow: the strip below the title counts who is where, forwards and backwards, and lights up where a pod came to.
func TestFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo("+1.05s").sees("new → activeQ 1 → in-flight 0 → ✓ bound 0")
		p.goTo("+0.1s").sees("activeQ 0 → in-flight 1 → ✓ bound 0")
		p.goTo("+0.1s").sees("activeQ 0 → in-flight 0 → ✓ bound 1")
		p.do(keymap.StepBack).sees("in-flight 1 → ✓ bound 0") // and is taken back
		p.goTo(moment).sees("→ ✓ bound 1, or rejected → unschedulable 2 · gated 1 ─ event → backoffQ 2 → activeQ")
	})
}

// TestTheFirstScreenExplainsItself: until the first key a line says what the board's words mean, and help begins with
// what one looks at.
func TestTheFirstScreenExplainsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.sees("waits: total  left: backoff  "+theme.GlyphObserved+": observed  "+theme.GlyphModelled+": modelled  "+theme.GlyphGated+": gated  +1: one more", "a recording of kube-scheduler v1.37.1")
		p.do(keymap.StepForward).seesNot("waits: total")
		p.do(keymap.Help).sees("What am I looking at", "The queue inside kube-scheduler: pods without a node.")
	})
}

// TestAge: each pane says for how long its pods have waited, and a backoff after an error is told apart.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).seesTogether("urgent-1↑", "0.3s", "batch-1", "1.5s", "train-0", "4.5s")
		wide := sit(t, 200, 60, paused(t, sample), Options{})
		wide.goTo(moment).sees("an error")
	})
}
