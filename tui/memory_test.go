package tui

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
)

// shortMemory keeps views for the duration of a test.
type shortMemory struct {
	views map[string]View
	full  bool
}

func (m *shortMemory) Recall(source string) (View, bool) {
	v, ok := m.views[source]
	return v, ok
}

func (m *shortMemory) Keep(source string, v View) error {
	if m.full {
		return errors.New("how " + source + " was looked at can't be remembered: the disk is full")
	}
	m.views[source] = v
	return nil
}

// TestSourcesAreLookedAtAsBefore: reopening a source restores its view, and another source has its
// own.
func TestSourcesAreLookedAtAsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &shortMemory{views: map[string]View{}}
		options := Options{Memory: kept, Source: "first", Recordings: []Recording{
			{Name: "second", Source: "second", Open: func(context.Context, func(float64)) (*session.Session, error) {
				return paused(t, "1 web-9 active UnscheduledPodAdd\n2 db-1 active UnscheduledPodAdd"), nil
			}},
			{Name: "first again", Source: "first", Open: func(context.Context, func(float64)) (*session.Session, error) { return paused(t, sample), nil }},
		}}
		p := sit(t, 120, 40, paused(t, sample), options)
		p.goTo(moment).do(keymap.Filter).enter("web").do(keymap.FocusBackoff, keymap.Sort).enter("name")
		p.sees("pod↓", " / web")
		p.do(keymap.Recordings).enter("second").seesNot(" / web").seesNot("pod↓")
		p.goTo("end").do(keymap.FocusLog, keymap.Zoom).sees("db-1")
		p.do(keymap.Recordings).enter("first again").goTo(moment).sees("pod↓", " / web")
		p.do(keymap.Recordings).enter("second").goTo("end").seesNot("1 activeQ").sees("5 log") // still zoomed

		kept.full = true
		p.do(keymap.Recordings).enter("first again").sees("can't: how second was looked at can't be remembered: the disk is full")
	})
}

// TestMarksAreKept: a user's marks in a recording are there when it is opened again, except those
// set in a what-if.
func TestMarksAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &shortMemory{views: map[string]View{}}
		options := Options{Memory: kept, Source: "mine"}
		p := sit(t, 100, 30, paused(t, sample), options)
		p.goTo(moment).do(keymap.SetMark).enter("here it began")
		p.do(keymap.WhatIf, keymap.SetMark).enter("only asked")
		if err := p.model.leave(); err != nil {
			t.Fatal(err)
		}
		late := kept.views["mine"]
		late.Marks = append(late.Marks, Mark{At: p.model.Frame.End.AddDate(1, 0, 0), Text: "of another run"}, Mark{})
		kept.views["mine"] = late

		again := sit(t, 100, 30, paused(t, sample), options)
		again.sends(func() tea.Cmd { again.model.applyStart(); return nil })
		again.do(keymap.GoToMark).sees("10:36:06.500", "here it began (yours)").seesNot("only asked").seesNot("another run")
	})
}

// TestAViewThatMakesNoSenseDoesNoHarm: invalid parts of a remembered view, from another version or
// a changed source, are ignored.
func TestAViewThatMakesNoSenseDoesNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := filter.Parse("web")
		if err != nil {
			t.Fatal(err)
		}
		s := session.New(tell(t, sample), timeline.Options{Paused: true, Filter: f})
		p := sit(t, 120, 40, s, Options{})
		p.model.restoreView(&View{Filter: "colour:red", Pane: "nowhere", Layout: "strange", Sorts: map[string]board.Sort{"limbo": {By: "name"}, "active": {By: "colour"}}})
		p.goTo(moment).sees(" / web", "1 activeQ").seesNot("pod↓").seesNot("zoomed")
		p.model.restoreView(&View{Filter: "db", Pane: "log"}) // the filter of the command line stays
		p.goTo("end").sees(" / web")
	})
}

// TestOwnKeys: custom keys run their actions, and the screen shows them.
func TestOwnKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, problems := keymap.Override(keymap.Default(), map[keymap.ID][]string{keymap.StepForward: {"~"}, keymap.Needs: {}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		p := sit(t, 120, 40, paused(t, sample), Options{Keys: own})
		p.sees("~ step").press("~")
		p.press("~")
		p.sees("move 2").press(".") // no longer bound
		p.sees("move 2").do(keymap.Palette).enter("nearest nodes").sees("can't: no pod is selected")
	})
}
