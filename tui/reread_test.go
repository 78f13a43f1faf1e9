package tui

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// edited passes configurations to the screen one after the other.
type edited chan func() (Options, error)

func (e edited) next(ctx context.Context) (Options, error) {
	select {
	case read := <-e:
		return read()
	case <-ctx.Done():
		return Options{}, ctx.Err()
	}
}

// TestTheConfigurationIsReadAgain: keys, looks, views and commands change at once; an invalid
// configuration changes nothing and shows where it is wrong; the user's choices stay unless the
// configuration changes them.
func TestTheConfigurationIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edits := make(edited)
		view := func(columns ...string) NamedView {
			return NamedView{Name: "mine", View: View{Filter: "web", Columns: map[string][]string{"activeQ": columns}}}
		}
		now := Options{Theme: theme.Dark, Views: []NamedView{view("pod", "here")}}
		with := now
		with.NextConfig = edits.next
		p := sit(t, 120, 40, paused(t, sample), with)
		p.model.options.machine = Machine{Run: runCommand}
		edit := func(o Options, err error) {
			edits <- func() (Options, error) { return o, err }
			p.idle()
		}
		p.goTo(moment).do(keymap.FirstView).sees("pod            here").do(keymap.Theme)
		chosen := p.model.looks.theme
		p.wait(page.NoticeTime)

		edit(Options{}, errors.New("config.yaml, line 3: there is no setting \"colour\""))
		p.sees(`config.yaml, line 3: there is no setting "colour"; the previous configuration stays in effect`)
		if p.model.looks.theme != chosen || len(p.model.options.Views) != 1 {
			t.Error("an invalid configuration changed something")
		}
		p.wait(page.NoticeTime)

		keys, problems := keymap.Override(keymap.Default(), map[keymap.ID][]string{keymap.Help: {"f5"}, keymap.GoToPod: nil, keymap.Commands: {"ctrl+f"}})
		if problems != nil {
			t.Fatal(problems)
		}
		now.Keys, now.Views, now.Commands = keys, []NamedView{view("pod", "waiting")}, []Command{{Name: "look at it", Words: []string{"true"}}}
		edit(now, nil)
		p.sees("configuration reloaded").seesNot("pod            here").sees("pod           waits")
		p.sees("f5 help")
		if p.model.looks.theme != chosen {
			t.Errorf("the theme is %s, want the chosen %s", p.model.looks.theme, chosen)
		}
		p.press("ctrl+f")
		p.sees("look at it").press("esc")

		own := func(color string) theme.Skins {
			c, err := theme.ParseColor(color)
			if err != nil {
				t.Fatal(err)
			}
			return theme.Skins{{Name: "mine", Base: theme.Dark, Colors: map[theme.Role]theme.Color{"unschedulable": c}}}
		}
		for _, color := range []string{"#010203", "#030201"} { // same name, other colours
			now.Theme, now.Skins = "mine", own(color)
			edit(now, nil)
			if want := now.Skins.Palette("mine", true, false, false); *p.model.looks.palette != *want {
				t.Errorf("the custom theme does not use its new colour %s", color)
			}
		}
		now.Theme, now.Skins = theme.Dark, nil
		p.do(keymap.Theme, keymap.Theme)
		edit(now, nil)
		if p.model.looks.theme != theme.Dark {
			t.Errorf("the theme is %s, which no longer exists", p.model.looks.theme)
		}

		now.Theme, now.Glyphs, now.Projector, now.NoMouse, now.Zone = theme.Light, theme.GlyphsASCII, true, true, kolkata(t)
		edit(now, nil)
		if m := p.model; m.looks.theme != theme.Light || !m.Projector || m.mouse.on {
			t.Errorf("theme %s, projector %t, mouse %t", m.looks.theme, m.Projector, m.mouse.on)
		}
		p.sees("16:06:06.500 IST").seesNot("━").seesNot("─")
	})
}
