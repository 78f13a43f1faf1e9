package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

// exactly88 matches the number 88, except in a time or after the mark of a lower bound.
var exactly88 = regexp.MustCompile(`(^|[^≥.:\d])88(\D|$)`)

// TestLowerBoundsAreMarked: a pod that was pending before the recording began has had at least 88
// attempts. Every view that shows the number marks it.
func TestLowerBoundsAreMarked(t *testing.T) {
	var script strings.Builder
	for i := range 88 {
		fmt.Fprintf(&script, "%.2f old-1 active NodeAdd\n%.2f old-1 inflight\n", float64(i)/10, float64(i)/10+0.01)
		if i < 87 {
			fmt.Fprintf(&script, "%.2f old-1 unschedulable ScheduleAttemptFailure NodeResourcesFit\n", float64(i)/10+0.02)
		}
	}
	script.WriteString("20.0 old-1 unschedulable ScheduleAttemptFailure NodeResourcesFit\n21.0 old-1 active NodeAdd\n30.0 mark end\n")
	for _, view := range []struct {
		name, at string
		keys     []keymap.ID
	}{
		{"in flight", "10:36:15", nil},
		{"log", "10:36:15", []keymap.ID{keymap.FocusLog, keymap.Zoom}},
		{"unschedulable", "10:36:20.5", []keymap.ID{keymap.FocusUnsched, keymap.Zoom}},
		{"detail in flight", "10:36:15", []keymap.ID{keymap.Open}},
		{"detail", "10:36:20.5", []keymap.ID{keymap.Open}},
		{"timeline", "10:36:20.5", []keymap.ID{keymap.Timeline}},
		{"lanes", "10:36:20.5", []keymap.ID{keymap.Lanes}},
		{"copy", "10:36:20.5", []keymap.ID{keymap.CopyMore}},
		{"comparison", "10:36:20.5", []keymap.ID{keymap.WhatIf, keymap.MoveAll, keymap.Compare}},
	} {
		t.Run(view.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := sit(t, 200, 60, paused(t, script.String()), Options{})
				p.goTo(view.at).do(keymap.GoToPod).enter("old-1").do(view.keys...).sees("≥88")
				for line := range strings.Lines(strings.ReplaceAll(p.screen(), "at least 88", "≥88")) {
					if exactly88.MatchString(line) {
						t.Errorf("%s", line)
					}
				}
			})
		})
	}
}
