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

// looks are the colours and glyphs.
type looks struct {
	theme   theme.Theme
	skins   theme.Skins // user-defined themes
	dark    bool        // the terminal has a dark background
	sixteen bool        // the terminal has only sixteen colours
	palette *canvas.Palette
	// translate replaces characters with ASCII. Nil: it does not.
	translate canvas.Translate
	links     canvas.Links // nil: none
}

// newLooks returns the looks of o, whose Glyphs must be resolved.
func newLooks(o Options) *looks {
	l := &looks{theme: cmp.Or(o.Theme, theme.Auto), skins: o.Skins, dark: true, translate: o.Glyphs.Translate()}
	if o.links {
		l.links = newLinks()
	}
	return l
}

// paper returns the background for pictures of the screen.
func (l looks) paper() export.Paper {
	if base := l.skins.Base(l.theme); base == theme.Light || base != theme.Dark && !l.dark {
		return export.Light()
	}
	return export.Dark()
}

// paint updates the palette.
func (m *model) paint() {
	m.looks.palette = m.looks.skins.Palette(m.looks.theme, m.looks.dark, m.Projector, m.looks.sixteen)
}

// addProgram adds the actions of the program itself: looks, lists, quitting.
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
			return m.Answer(m.Keys.Say("projector view: large counts, bold text, pressed keys; {projector} turns it off"))
		}
		return nil
	}}
	all[keymap.TimeZone] = page.Do(m.nextZone).DisabledWhen(func() string {
		if m.otherZone() == m.zone {
			return "this machine's time zone is UTC, and the configuration sets no other (such as time-zone: Europe/Berlin)"
		}
		return ""
	})
	all[keymap.Mouse] = page.Action{Do: func(string) tea.Cmd {
		m.mouse.on = !m.mouse.on
		if m.mouse.on {
			return m.Answer(m.Keys.Say("mouse on: click to select, scroll; {mouse} leaves the mouse to the terminal"))
		}
		return m.Answer(m.Keys.Say("mouse off: select text with the terminal; {mouse} turns it on"))
	}}
	all[keymap.Recordings] = page.Do(m.chooseRecording).DisabledWhen(m.nothingToChoose)
	m.addSplitView(all)
	all[keymap.Rerun] = page.Do(m.chooseRelease).DisabledWhen(func() string {
		if m.Frame.Live != nil {
			return session.ErrLive.Error()
		}
		return ""
	})
	all[keymap.Messages] = page.Do(m.showMessages).DisabledWhen(func() string {
		if len(m.Messages()) == 0 {
			return "there are no messages yet"
		}
		return ""
	})
	all[keymap.Palette] = page.Do((&palette{UI: m.UI}).open)
	all[keymap.Help] = page.Do(m.showHelp)
	all[keymap.Quit] = page.Do(m.quit)
	all[keymap.Suspend] = page.Action{Do: func(string) tea.Cmd { return tea.Suspend }}
}

// quit ends the program. With unsaved work the key must be pressed twice.
func (m *model) quit() tea.Cmd {
	what := m.unsavedWork()
	if m.split.two() {
		what = cmp.Or(what, m.split.other(m).unsavedWork())
	}
	if what == "" || m.leaving > 0 && m.Keypresses() <= m.leaving+1 {
		return tea.Quit
	}
	m.leaving = m.Keypresses()
	return m.Answer(what + m.Keys.Say(" will be lost: press {quit} again to quit"))
}

// unsavedWork returns what is lost when the program ends, or "".
func (m *model) unsavedWork() string {
	what := lost(m.Frame)
	switch {
	case m.lesson != nil, m.options.Keeps:
		what = ""
	case m.play != nil && m.play.Touched():
		what = "your cluster"
	case what == "" && m.origin.session != nil && m.origin.session != m.Session:
		what = lost(m.origin.frame)
	}
	return what
}

// setZone sets the time zone of this session and later ones.
func (m *model) setZone(zone words.Zone) {
	m.zone = zone
	m.Session.SetZone(zone)
}

// otherZone returns the zone to switch to: UTC, or from UTC the configured one or this machine's.
func (m *model) otherZone() words.Zone {
	if !m.zone.IsUTC() {
		return words.Zone{}
	}
	if !m.options.Zone.IsUTC() {
		return m.options.Zone
	}
	here, _ := words.ParseZone("local") // never fails
	return here
}

// nextZone switches to the other zone.
func (m *model) nextZone() tea.Cmd {
	m.setZone(m.otherZone())
	return m.Answer("times are in " + m.zone.Name(m.Frame.Now) + m.Keys.Say("; {time-zone} switches back"))
}
