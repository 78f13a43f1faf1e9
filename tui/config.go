package tui

import (
	"cmp"
	"reflect"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
)

// watchConfig waits for the next change of the configuration and applies it. Only one such command runs at a time.
func (m *model) watchConfig() tea.Cmd {
	ctx, next := m.ctx, m.options.NextConfig
	if next == nil {
		return nil
	}
	return page.Guarded(func() tea.Msg {
		o, err := next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		return page.Ready(func() tea.Cmd {
			if err != nil {
				return tea.Batch(m.QueueNotice(page.Notice{Text: err.Error() + "; the previous configuration stays in effect", Refused: true}), m.watchConfig())
			}
			m.applyConfig(o)
			if m.split.two() {
				m.split.other(m).applyConfig(o)
			}
			return tea.Batch(m.QueueNotice(page.Notice{Text: "configuration reloaded"}), m.watchConfig())
		})
	})
}

// applyConfig applies the settings of next that can change at any time. What the user has since changed with a key stays, unless
// its setting changed.
func (m *model) applyConfig(next Options) {
	before := m.options
	o := &m.options
	o.Theme, o.Skins, o.Glyphs, o.Projector, o.NoMouse, o.Bell = next.Theme, next.Skins, next.Glyphs, next.Projector, next.NoMouse, next.Bell
	o.Zone, o.Notifications = next.Zone, next.Notifications
	o.Keys, o.Views, o.Commands = next.Keys, next.Views, next.Commands

	m.looks.skins = o.Skins
	if o.Theme != before.Theme || !slices.Contains(o.Skins.All(), m.looks.theme) {
		m.looks.theme = cmp.Or(o.Theme, theme.Auto)
	}
	if o.Glyphs != before.Glyphs {
		m.looks.translate = o.Glyphs.Translate()
	}
	if o.Projector != before.Projector {
		m.Projector = o.Projector
	}
	if o.NoMouse != before.NoMouse {
		m.mouse.on = !o.NoMouse
	}
	m.Bell = o.Bell
	if o.Zone.String() != before.Zone.String() {
		m.setZone(o.Zone)
	}
	m.paint()
	m.setKeys(o.Keys)
	addCommands(m.ctx, m.UI, o.Commands, o.machine, m.Actions)
	if was, is := viewNamed(before.Views, m.viewName), viewNamed(o.Views, m.viewName); is != nil && !reflect.DeepEqual(was, is) {
		m.applyView(*is)
	}
}

// viewNamed returns the view with that name, or nil.
func viewNamed(views []NamedView, name string) *NamedView {
	if i := slices.IndexFunc(views, func(v NamedView) bool { return v.Name == name }); i >= 0 {
		return &views[i]
	}
	return nil
}

// setKeys sets the bindings. Nil is keymap.Default.
func (m *model) setKeys(bindings []keymap.Binding) {
	if bindings == nil {
		bindings = keymap.Default()
	}
	m.Keys = keymap.New(bindings)
	for _, l := range m.Keys.Leaders() {
		m.Actions[l.ID] = page.Do(func() tea.Cmd { return m.openWords(l) })
	}
}
