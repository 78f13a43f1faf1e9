package tui

import (
	"context"
	"errors"
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
		p.do(keymap.Recordings).sees("other", "monday.jsonl", "open files …").seesNot("The session you started with")
		p.enter("monday").seesNot("WHAT-IF").sees("10:36:00.100")

		p.do(keymap.Recordings).sees("back").enter("back").sees("WHAT-IF since 10:36:06", "1 injection")
		p.do(keymap.WhatIf).goTo("end").sees("at the end")
		p.do(keymap.Recordings).enter("open files").sees("open: ").enter("x.log").sees("10:36:00.100")
	})
}

// The clusters of a kubeconfig can be attached to from the list, but for the one that is shown; that they can't be listed is
// said, and what else there is can be chosen.
func TestClustersAreAttachedToFromTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := opens(t, "staging", gangs)
		here := opens(t, "prod", sample)
		here.Source, there.Source = "cluster prod", "cluster staging"
		var broken error
		p := sit(t, 120, 40, paused(t, sample), Options{
			Source:        "cluster prod",
			OwnRecordings: func() ([]Recording, error) { return []Recording{opens(t, "monday", gangs)}, nil },
			Clusters:      func() ([]Recording, error) { return []Recording{here, there}, broken },
		})
		p.do(keymap.Recordings).sees("Clusters of your kubeconfig", "staging", "monday.jsonl").seesNot("prod.jsonl")
		p.enter("staging").sees("10:36:00.100")
		broken = errors.New("the kubeconfig can't be read: it is no YAML")
		p.do(keymap.Recordings).sees("monday.jsonl", "can't: the kubeconfig can't be read")
	})
}

// What-ifs that end with a session, or with the program, are not lost without a word.
func TestWhatIfsAreNotLostWithoutAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, gangs), Options{Recordings: []Recording{opens(t, "other", sample)}})
		p.do(keymap.Recordings).enter("other").goTo(moment)
		p.do(keymap.WhatIf, keymap.MoveAll).sees("WHAT-IF")
		p.do(keymap.Recordings).enter("other").sees("1 what-if of sample will be lost", "cancel")
		p.press("enter")
		p.sees("WHAT-IF").do(keymap.Quit).sees("will be lost: press q again to quit")
		p.do(keymap.RowDown, keymap.Quit).sees("will be lost: press q again to quit")
		p.do(keymap.Recordings).enter("other").do(keymap.ListDown).press("enter")
		p.seesNot("WHAT-IF").do(keymap.Quit)
		if err := <-p.over; err != nil {
			t.Error(err)
		}
		p.over <- nil
	})
}
