package tui

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
)

// opens is a recording that plays script.
func opens(t *testing.T, name, script string) Recording {
	return Recording{Name: name, Title: name + ".jsonl", Open: func(context.Context, func(float64)) (*session.Session, error) { return paused(t, script), nil }}
}

// The list of recordings has the person's own and files, and leads back to where one began, with the what-ifs and the
// moment that one left there.
func TestRecordingsLeadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{
			Recordings:    []Recording{opens(t, "other", gangs)},
			OwnRecordings: func() ([]Recording, error) { return []Recording{opens(t, "monday", gangs)}, nil },
			OpenFiles:     func(paths []string) Recording { return opens(t, paths[0], gangs) },
		})
		p.goTo(moment).do(keymap.WhatIf, keymap.MoveAll).sees("WHAT-IF since 10:36:06", "1 injection")
		p.do(keymap.Recordings).sees("other", "monday.jsonl", "open files …").seesNot("Where you began")
		p.enter("monday").seesNot("WHAT-IF").sees("10:36:00.100")

		p.do(keymap.Recordings).sees("back").enter("back").sees("WHAT-IF since 10:36:06", "1 injection")
		p.do(keymap.LeaveWhatIf).goTo("end").sees("at the end")
		p.do(keymap.Recordings).enter("open files").sees("open: ").enter("x.log").sees("10:36:00.100")
	})
}

// What-ifs that end with a session, or with the program, are not lost without a word.
func TestWhatIfsAreNotLostWithoutAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, gangs), Options{Recordings: []Recording{opens(t, "other", sample)}})
		p.do(keymap.Recordings).enter("other").goTo(moment)
		p.do(keymap.WhatIf, keymap.MoveAll).sees("WHAT-IF")
		p.do(keymap.Recordings).enter("other").sees("1 what-if of sample would be lost", "stay")
		p.press("enter")
		p.sees("WHAT-IF").do(keymap.Quit).sees("would be lost: q again leaves")
		p.do(keymap.RowDown, keymap.Quit).sees("would be lost: q again leaves")
		p.do(keymap.Recordings).enter("other").do(keymap.ListDown).press("enter")
		p.seesNot("WHAT-IF").do(keymap.Quit)
		if err := <-p.over; err != nil {
			t.Error(err)
		}
		p.over <- nil
	})
}
