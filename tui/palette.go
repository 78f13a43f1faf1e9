package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
)

// lately is how many of the last things done the palette lists first.
const lately = 3

// showPalette lists all that can be done here, by name and with its key, and of what can't be done why not.
// Choosing one does it.
func (m *model) showPalette() tea.Cmd {
	ids := make(map[int]keymap.ID)
	l := list{title: "do: type a name, enter does it", choose: func(chosen []int) tea.Cmd {
		id := ids[chosen[0]]
		m.recent = slices.DeleteFunc(m.recent, func(r keymap.ID) bool { return r == id })
		m.recent = slices.Insert(m.recent, 0, id)
		m.recent = m.recent[:min(lately, len(m.recent))]
		return m.do(id)
	}}
	add := func(b keymap.Binding) {
		ids[len(l.items)] = b.ID
		l.items = append(l.items, m.paletteItem(b))
	}
	if len(m.recent) > 0 {
		l.items = append(l.items, item{text: "Lately", heading: true})
	}
	for _, id := range m.recent {
		if b, ok := m.keys.ByID(id); ok {
			add(b)
		}
	}
	for _, group := range keymap.Groups() {
		of := slices.DeleteFunc(m.keys.In(group), func(b keymap.Binding) bool {
			return b.Context != keymap.Board && (b.Context != keymap.Chart || !m.zoom.chart()) || b.ID == keymap.Palette
		})
		if len(of) == 0 {
			continue
		}
		l.items = append(l.items, item{text: string(group), heading: true})
		for _, b := range of {
			add(b)
		}
	}
	m.openList(l)
	return nil
}

// paletteItem is b as it is at the moment.
func (m *model) paletteItem(b keymap.Binding) item {
	a := m.actions[b.ID]
	it := item{key: b.Key(), text: b.Name, note: b.Description, other: b.Description}
	if a.name != nil {
		it.text, it.other = a.name(), b.Name+" "+it.other
	}
	if why := a.refusal(); why != "" {
		it.note, it.off = "can't: "+why, true
	}
	return it
}
