package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/theme"
)

// manyWaiting returns a script with many unschedulable pods and some gated ones.
func manyWaiting() string {
	var script strings.Builder
	for i := range 12 {
		fmt.Fprintf(&script, "0.1 pod gated-%02d 0\n0.1 gated-%02d gated UnscheduledPodAdd SchedulingGates\n", i, i)
	}
	for i := range 1234 {
		fmt.Fprintf(&script, "0.2 waits-%04d active UnscheduledPodAdd\n0.2 waits-%04d inflight\n", i, i)
		fmt.Fprintf(&script, "0.3 waits-%04d unschedulable ScheduleAttemptFailure NodeResourcesFit\n", i)
	}
	return script.String()
}

// TestOneCountPerTier: a screen of any size shows one number for unschedulable pods, and marks
// gated pods without colour.
func TestOneCountPerTier(t *testing.T) {
	count := regexp.MustCompile(`unsc[a-z]*…? ([0-9,]+)`)
	for _, opts := range []Options{{NoColor: true}, {NoColor: true, Projector: true}} {
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, 200, 60, paused(t, manyWaiting()), opts)
			p.do(keymap.SeekEnd)
			for w := minWidth; w <= 200; w += 7 {
				for _, h := range []int{20, 24, 30, 60} {
					p.resize(w, h)
					screen := p.screen()
					for _, found := range count.FindAllStringSubmatch(screen, -1) {
						if found[1] != "1,234" {
							t.Fatalf("at %dx%d %q is on the screen:\n%s", w, h, found[0], screen)
						}
					}
					if !regexp.MustCompile(`(⊘|gated) 12|\+12⊘`).MatchString(screen) {
						t.Fatalf("at %dx%d the gated pods are not counted:\n%s", w, h, screen)
					}
				}
			}
			for _, size := range sizes {
				p.resize(size[0], size[1])
				p.do(keymap.FocusUnsched, keymap.LastRow).seesTogether(theme.GlyphObserved+theme.GlyphGated, "gated-11")
			}
		})
	}
}
