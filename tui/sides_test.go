package tui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
)

// pair shows the sample next to another recording, which begins an hour later.
func pair(t *testing.T, w, h int) *person {
	t.Helper()
	other := tell(t, sample)
	other.Name = "later"
	for i := range other.Events {
		other.Events[i].Time = other.Events[i].Time.Add(time.Hour)
	}
	return sit(t, w, h, paused(t, sample), Options{Beside: &Beside{Name: "later", Session: session.New(other, timeline.Options{Paused: true})}})
}

// sides returns the program's split view.
func (p *person) sides() *splitView { return p.model.split }

// TestTwoBesideEachOther: at every size, keys apply to the active side, the other side shows the
// matching moment, and each side has its own what-ifs and pages.
func TestTwoBesideEachOther(t *testing.T) {
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			p := pair(t, size[0], size[1])
			first, second := p.sides().all[0], p.sides().all[1]
			p.sees("▸sample", " later", "→ follows", "by start")
			p.goTo(moment).sees("10:36:06.500", "11:36:06.500")

			p.do(keymap.OtherSide).sees(" sample", "▸later")
			p.goTo("11:36:03").sees("10:36:03.000", "11:36:03.000")
			p.do(keymap.FocusUnsched, keymap.RowDown)
			if !second.Selected.Any || first.Selected.Any {
				t.Errorf("%v: a key does not apply to the active side alone", size)
			}
			p.do(keymap.WhatIf).sees("WHAT-IF since 11:36:03")
			if first.Frame.Fork != nil {
				t.Errorf("%v: the what-if is not limited to the active side", size)
			}
			p.do(keymap.Beside).sees("sample").seesNot("later")
			p.do(keymap.StepForward).seesNot("→ follows")
			p.resize(120, 40)
			p.sees("sample — a recording")
		})
	}
}

// TestPlayingBesideEachOther: playback continues on the side that becomes active, and the other
// side stays close.
func TestPlayingBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pair(t, 120, 40)
		first, second := p.sides().all[0], p.sides().all[1]
		apart := func() time.Duration {
			return (second.Frame.Now.Sub(second.Frame.Start) - first.Frame.Now.Sub(first.Frame.Start)).Abs()
		}
		p.do(keymap.Play)
		p.wait(2 * time.Second)
		if d := apart(); !first.Frame.Playing || second.Frame.Playing || first.Frame.Now.Sub(first.Frame.Start) < time.Second || d > 200*time.Millisecond {
			t.Errorf("playing %t, %t; %s apart", first.Frame.Playing, second.Frame.Playing, d)
		}
		p.do(keymap.OtherSide)
		p.wait(2 * time.Second)
		if d := apart(); first.Frame.Playing || !second.Frame.Playing || second.Frame.Now.Sub(second.Frame.Start) < 3*time.Second || d > 200*time.Millisecond {
			t.Errorf("on the other side: playing %t, %t; %s apart", first.Frame.Playing, second.Frame.Playing, d)
		}
		p.do(keymap.Play, keymap.Alignment) // the first recording lacks that time of day
		if !first.Frame.AtEnd || p.sides().alignment != ByTime {
			t.Errorf("aligned %s, the first side is at %s", p.sides().alignment.Words(), first.Frame.Now)
		}
		p.do(keymap.Alignment).sees("independently").seesNot("follows")
		p.do(keymap.SeekStart)
		if !first.Frame.AtEnd {
			t.Error("the first side follows although it is independent")
		}
	})
}

// TestOpeningBeside: the list of recordings opens one next to the current one, a click activates a
// side, and closing a side with a what-if asks for confirmation.
func TestOpeningBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{Recordings: []Recording{{Name: "gangs", Title: "Gangs", Open: func(context.Context, func(float64)) (*session.Session, error) {
			rec := tell(t, gangs)
			rec.Name = "gangs"
			return session.New(rec, timeline.Options{Paused: true}), nil
		}}}})
		p.do(keymap.OtherSide).seesNot("can't") // the key moves to the next pane
		p.do(keymap.Beside).sees("compare with").press("enter")
		p.sees("▸sample", "│ gangs").clickAt(90, 8)
		p.sees(" sample", "│▸gangs")
		p.try(keymap.AddPod).enter("extra")
		p.do(keymap.OtherSide, keymap.Beside).sees("1 what-if of gangs will be lost").press("enter")
		p.sees("│ ").do(keymap.Quit).sees("1 what-if of gangs will be lost: press q again to quit")
		p.do(keymap.Beside, keymap.ListDown).press("enter")
		p.seesNot("gangs")
	})
}

// TestListsBesideEachOther: lists and prompts use the whole screen, and a filter applies to one
// side.
func TestListsBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pair(t, 80, 24)
		p.do(keymap.OtherSide, keymap.Help).sees("What am I looking at", "esc close")
		if rows := strings.Count(p.screen(), "\n"); rows != 24 {
			t.Errorf("%d rows, want 24", rows)
		}
		p.do(keymap.ListClose, keymap.Filter).sees("filter:").enter("web").sees(" / web")
		if first := p.sides().all[0]; first.Frame.Filter != "" {
			t.Errorf("the other side has the filter %s", first.Frame.Filter)
		}
	})
}
