package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/export"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// looks are the colours in which the screen is drawn.
type looks struct {
	theme   theme.Theme
	skins   theme.Skins // the person's own themes
	dark    bool        // the terminal's background
	sixteen bool        // it has no more colours
	palette *canvas.Palette
	// translate makes ASCII of signs. Nil: they are drawn as they are.
	translate canvas.Translate
}

// newLooks returns the looks that o asks for. Glyphs are resolved.
func newLooks(o Options) *looks {
	return &looks{theme: cmp.Or(o.Theme, theme.Auto), skins: o.Skins, dark: true, translate: o.Glyphs.Translate()}
}

// paper is what a picture of the screen is drawn on.
func (l looks) paper() export.Paper {
	if base := l.skins.Base(l.theme); base == theme.Light || base != theme.Dark && !l.dark {
		return export.Light()
	}
	return export.Dark()
}

// paint makes the palette of the theme.
func (m *model) paint() {
	m.looks.palette = m.looks.skins.Palette(m.looks.theme, m.looks.dark, m.Projector, m.looks.sixteen)
}

// addProgram adds what is done with the program itself: its looks, its lists, its end.
func (m *model) addProgram(all page.Actions) {
	all[keymap.Theme] = page.Action{Do: func(string) tea.Cmd {
		m.looks.theme = m.looks.skins.Next(m.looks.theme)
		m.paint()
		return m.Answer("theme " + string(m.looks.theme) + m.Keys.Say(", {theme}: next"))
	}}.DisabledWhen(func() string {
		if m.options.NoColor {
			return "colours are off: NO_COLOR is set, or --no-color was given"
		}
		return ""
	})
	all[keymap.Projector] = page.Action{Do: func(string) tea.Cmd {
		m.Projector = !m.Projector
		m.paint()
		if m.Projector {
			return m.Answer(m.Keys.Say("projector: large counts, bold text, and the keys that are pressed; {projector} ends it"))
		}
		return nil
	}}
	all[keymap.TimeZone] = page.Do(m.nextZone).DisabledWhen(func() string {
		if m.otherZone() == m.zone {
			return "UTC is this machine's time zone, and the configuration names no other (time-zone: Europe/Berlin)"
		}
		return ""
	})
	all[keymap.Mouse] = page.Action{Do: func(string) tea.Cmd {
		m.mouse.on = !m.mouse.on
		if m.mouse.on {
			return m.Answer(m.Keys.Say("the mouse selects, scrolls and presses what is below it; {mouse} leaves it to the terminal"))
		}
		return m.Answer(m.Keys.Say("the mouse is the terminal's: select text with it; {mouse} takes it back"))
	}}
	all[keymap.Recordings] = page.Do(m.chooseRecording).DisabledWhen(m.nothingToChoose)
	m.addSides(all)
	all[keymap.Rerun] = page.Do(m.chooseRelease).DisabledWhen(func() string {
		if m.Frame.Live != nil {
			return session.ErrLive.Error()
		}
		return ""
	})
	all[keymap.Messages] = page.Do(m.showMessages).DisabledWhen(func() string {
		if len(m.Messages()) == 0 {
			return "nothing was said yet"
		}
		return ""
	})
	all[keymap.Palette] = page.Do((&palette{UI: m.UI}).open)
	all[keymap.Help] = page.Do(m.showHelp)
	all[keymap.Quit] = page.Do(m.quit)
	all[keymap.Suspend] = page.Action{Do: func(string) tea.Cmd { return tea.Suspend }}
}

// quit leaves the program. If anything is lost with it, it says so first, and leaves when it is asked again at once.
func (m *model) quit() tea.Cmd {
	what := m.unsavedWork()
	if m.sides.two() {
		what = cmp.Or(what, m.sides.other(m).unsavedWork())
	}
	if what == "" || m.leaving > 0 && m.Keypresses() <= m.leaving+1 {
		return tea.Quit
	}
	m.leaving = m.Keypresses()
	return m.Answer(what + m.Keys.Say(" would be lost: {quit} again leaves"))
}

// unsavedWork is what is lost when the screen is left. Empty if nothing is.
func (m *model) unsavedWork() string {
	what := lost(m.Frame)
	switch {
	case m.lesson != nil, m.options.Keeps:
		what = ""
	case m.play != nil && m.play.Touched():
		what = "what you made"
	case what == "" && m.origin.session != nil && m.origin.session != m.Session:
		what = lost(m.origin.frame)
	}
	return what
}

// setZone has the session that is shown, and those that come, tell times of day in zone.
func (m *model) setZone(zone words.Zone) {
	m.zone = zone
	m.Session.SetZone(zone)
}

// otherZone is the zone to change to: UTC, and from that the one of the configuration, or else this machine's.
func (m *model) otherZone() words.Zone {
	if !m.zone.IsUTC() {
		return words.Zone{}
	}
	if !m.options.Zone.IsUTC() {
		return m.options.Zone
	}
	here, _ := words.ParseZone("local") // which there is always
	return here
}

// nextZone changes to the other zone.
func (m *model) nextZone() tea.Cmd {
	m.setZone(m.otherZone())
	return m.Answer("times of day are in " + m.zone.Name(m.Frame.Now) + m.Keys.Say("; {time-zone}: the other way"))
}
