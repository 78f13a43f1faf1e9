package tui

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/tui/whatif"
	"github.com/schedq/schedq/tui/widget"
)

// TestPlaying: a user adds a pod that fits nowhere and a node for it, and undoes adding another
// pod; the saved scenario has the same outcome.
func TestPlaying(t *testing.T) {
	opts, err := lessons.Options()
	if err != nil {
		t.Fatal(err)
	}
	story, err := whatif.EmptyScenario("v1.33")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p := sitAt(t, 80, 24, func(ctx context.Context) *model { return newPlay(ctx, story, opts, Options{}) })
		p.sees("a local scheduler decides", "e change …")
		if p.model.play.Touched() || p.model.Frame.Fork.Injected != 1 {
			t.Errorf("%d actions before the first", p.model.Frame.Fork.Injected)
		}
		p.do(keymap.AddPod).sees("add now", "a pod that wants 12 CPUs").enter("whale").sees("whale-1", "NodeResourcesFit")
		p.do(keymap.AddPod).enter("large").sees("1 bound (whale-1 on large-1)")
		p.do(keymap.AddPod).enter("gated").sees("gated-1").do(keymap.Undo).seesNot("○ gated-1")

		p.do(keymap.WhatIf).sees("can't: this cluster is your what-if", "YOUR CLUSTER — a local scheduler decides", "whale-1")
		p.do(keymap.CloseFork).sees("can't: this cluster is your what-if")
		p.do(keymap.Quit).sees("your cluster will be lost: press q again to quit")

		made, err := p.model.Session.ForkScenario()
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err = scenario.Write(&file, made); err == nil {
			made, err = scenario.Parse("made.yaml", file.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
		if made.Release != "v1.33" || len(made.Moments) != 2 {
			t.Fatalf("the scenario has release %s and %d moments, want v1.33 and 2", made.Release, len(made.Moments))
		}
		placed := false
		err = timeline.Replay(t.Context(), made.Recording(), timeline.Options{}, func(m *board.Transition) error {
			placed = placed || strings.HasPrefix(m.Pod.Key.Name, "whale") && m.Pod.Node == "large-1"
			return nil
		})
		if err != nil || !placed {
			t.Errorf("the whale is placed in the scenario: %t, %v", placed, err)
		}
	})
}

// TestThePaletteIsPlain: every offered pod and node can be added, twice.
func TestThePaletteIsPlain(t *testing.T) {
	opts, err := lessons.Options()
	if err != nil {
		t.Fatal(err)
	}
	story, err := whatif.EmptyScenario("")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p := sitAt(t, 120, 40, func(ctx context.Context) *model { return newPlay(ctx, story, opts, Options{}) })
		p.do(keymap.AddPod)
		offered := p.model.Overlays.Top().(*widget.List).Items
		p.press("esc")
		for range 2 {
			for _, k := range offered {
				p.do(keymap.AddPod).enter(k.Key).seesNot("can't").sees("apply " + k.Key)
			}
		}
		made, err := p.model.Session.ForkScenario()
		if err != nil || len(made.Moments) != 2*len(offered) || len(offered) == 0 {
			t.Errorf("the scenario has %d moments, want %d (%v)", len(made.Moments), 2*len(offered), err)
		}
	})
}
