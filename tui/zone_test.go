package tui

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session/words"
)

// kolkata returns a time zone in which both the hour and the minute differ from UTC.
func kolkata(t *testing.T) words.Zone {
	t.Helper()
	zone, err := words.ParseZone("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

var clockTime = regexp.MustCompile(`[0-9]{2}:[0-9]{2}:[0-9]{2}`)

// clocks returns the times of day on the screen in order.
func clocks(screen string) []string { return clockTime.FindAllString(screen, -1) }

// TestZoneEverywhere: every page shows all times of day in the configured zone.
func TestZoneEverywhere(t *testing.T) {
	zone := kolkata(t)
	for _, view := range views {
		t.Run(view.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				draw := func(opts Options, when string) []string {
					p := sit(t, 200, 60, paused(t, sample), opts)
					p.goTo(when).do(keymap.FocusUnsched, keymap.RowDown)
					view.open(p)
					return clocks(p.screen())
				}
				here, there := draw(Options{}, "10:36:06.5"), draw(Options{Zone: zone}, "16:06:06.5")
				if len(here) == 0 {
					t.Fatal("the screen has no time of day")
				}
				for i, when := range here {
					at, err := time.Parse(time.TimeOnly, when)
					if err != nil {
						t.Fatal(err)
					}
					here[i] = at.Add(5*time.Hour + 30*time.Minute).Format(time.TimeOnly)
				}
				if !slices.Equal(here, there) {
					t.Errorf("got the times\n%s\nfrom UTC, and in the zone\n%s", strings.Join(here, " "), strings.Join(there, " "))
				}
			})
		})
	}
}

// TestZoneByKey: a key switches between UTC and the configured zone, also in the session's
// messages, and the zone is named unless it is UTC.
func TestZoneByKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{Zone: kolkata(t)})
		p.goTo("16:06:06.5").sees("16:06:06.500 IST")
		p.do(keymap.TimeZone).sees("times are in UTC", "10:36:06.500").seesNot("IST")
		p.do(keymap.WhatIf).sees("what-if from 10:36:06.5")
		p.do(keymap.TimeZone).sees("16:06:06.500 IST")
	})
}
