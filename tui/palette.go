package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// lately limits the recent actions at the top of the palette.
const lately = 3

// palette lists all actions by name, with their keys and why they are unavailable.
type palette struct {
	*page.UI
	recent []keymap.ID // chosen from the palette, the latest first
}

// open opens the list. Choosing an entry performs it.
func (p *palette) open() tea.Cmd {
	ids := make(map[int]keymap.ID)
	l := widget.List{Title: p.Keys.Say("actions: type to search, {list-choose} to run"), Typing: true, Choose: func(chosen []int) tea.Cmd {
		id := ids[chosen[0]]
		p.recent = slices.DeleteFunc(p.recent, func(r keymap.ID) bool { return r == id })
		p.recent = slices.Insert(p.recent, 0, id)
		p.recent = p.recent[:min(lately, len(p.recent))]
		return p.Do(id)
	}}
	add := func(b keymap.Binding) {
		ids[len(l.Items)] = b.ID
		l.Items = append(l.Items, p.item(b))
	}
	if len(p.recent) > 0 {
		l.Items = append(l.Items, widget.Item{Text: "Lately", Heading: true})
	}
	for _, id := range p.recent {
		if b, ok := p.Keys.ByID(id); ok {
			add(b)
		}
	}
	for _, group := range keymap.Groups() {
		of := slices.DeleteFunc(p.Keys.In(group), func(b keymap.Binding) bool {
			return !p.here(b.Context) || b.ID == keymap.Palette
		})
		if len(of) == 0 {
			continue
		}
		l.Items = append(l.Items, widget.Item{Text: string(group), Heading: true})
		for _, b := range of {
			add(b)
		}
	}
	return widget.OpenList(p.UI, l, 0)
}

// here reports whether keys of that context are in use.
func (p *palette) here(context keymap.Context) bool {
	switch context {
	case keymap.Board:
		return true
	case keymap.Chart:
		return p.Pages.InChart()
	case keymap.Cycle:
		return p.Pages.Top().Context() == keymap.Cycle
	case keymap.Sides:
		return p.Actions[keymap.OtherSide].Refusal() == ""
	case keymap.Lesson:
		return p.Pages.Lowest().Context() == keymap.Lesson
	}
	return false
}

// item returns the list item of b.
func (p *palette) item(b keymap.Binding) widget.Item {
	now := p.Named(b)
	it := widget.Item{Key: b.Key(), Text: now.Name, Note: b.Description, Keywords: b.Description}
	if now.Name != b.Name {
		it.Keywords = b.Name + " " + it.Keywords
	}
	if why := p.Actions[b.ID].Refusal(); why != "" {
		it.Note, it.Disabled = "can't: "+why, true
	}
	return it
}
