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

// reread waits until the configuration has changed, and takes it. There is one such command under way at any time.
func (m *model) reread() tea.Cmd {
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
				return tea.Batch(m.QueueNotice(page.Notice{Text: err.Error() + "; what was read before holds", Refused: true}), m.reread())
			}
			m.takeConfig(o)
			if m.sides.two() {
				m.sides.other(m).takeConfig(o)
			}
			return tea.Batch(m.QueueNotice(page.Notice{Text: "the configuration has changed, and is read again"}), m.reread())
		})
	})
}

// takeConfig takes from next what holds at any time. What the person has chosen with a key since stays, where the
// configuration says of it what it said before.
func (m *model) takeConfig(next Options) {
	before := m.options
	o := &m.options
	o.Theme, o.Skins, o.Glyphs, o.Projector, o.NoMouse, o.Bell = next.Theme, next.Skins, next.Glyphs, next.Projector, next.NoMouse, next.Bell
	o.Zone = next.Zone
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
		m.lookThrough(*is)
	}
}

// viewNamed returns the view of that name, or nil.
func viewNamed(views []NamedView, name string) *NamedView {
	if i := slices.IndexFunc(views, func(v NamedView) bool { return v.Name == name }); i >= 0 {
		return &views[i]
	}
	return nil
}

// setKeys has keys mean what the bindings say. Nil is keymap.Default.
func (m *model) setKeys(bindings []keymap.Binding) {
	if bindings == nil {
		bindings = keymap.Default()
	}
	m.Keys = keymap.New(bindings)
}
