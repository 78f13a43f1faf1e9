package tui

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
)

// opens returns a recording that plays script.
func opens(t *testing.T, name, script string) Recording {
	return Recording{Name: name, Title: name + ".jsonl", Open: func(context.Context, func(float64)) (*session.Session, error) { return paused(t, script), nil }}
}

// TestRecordingsLeadBack: the list of recordings has the user's recordings and files, and leads
// back to the first session with its what-ifs and its moment.
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

// TestClustersAreAttachedToFromTheList: the list offers the kubeconfig's other clusters, and if it
// can't be read shows the error and the remaining entries.
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

// TestWhatIfsAreNotLostWithoutAWord: closing a session with what-ifs, or quitting, asks for
// confirmation.
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
