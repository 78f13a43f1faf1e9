package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/tui/board"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// addViews adds the actions for user-defined views.
func (m *model) addViews(all page.Actions) {
	none := func(i int) func() string {
		return func() string {
			if i >= len(m.options.Views) {
				return fmt.Sprintf("the configuration has %d views: see docs/reference/settings.md", len(m.options.Views))
			}
			return ""
		}
	}
	all[keymap.ChooseView] = page.Do(m.chooseView).DisabledWhen(none(0))
	for i, id := range [...]keymap.ID{keymap.FirstView, keymap.SecondView, keymap.ThirdView, keymap.FourthView} {
		all[id] = page.Action{Do: func(string) tea.Cmd { return m.showView(m.options.Views[i]) }}.DisabledWhen(none(i)).NamedBy(func() string {
			if i < len(m.options.Views) {
				return m.options.Views[i].Name
			}
			return ""
		})
	}
}

// chooseView lists the views.
func (m *model) chooseView() tea.Cmd {
	l := widget.List{Title: "views", Choose: func(chosen []int) tea.Cmd { return m.showView(m.options.Views[chosen[0]]) }}
	for i, v := range m.options.Views {
		it := widget.Item{Text: v.Name, Note: viewNote(v.View)}
		if b, ok := m.Keys.ByID(keymap.ID(fmt.Sprintf("view-%d", i+1))); ok {
			it.Key = b.Key()
		}
		l.Items = append(l.Items, it)
	}
	return widget.OpenList(m.UI, l, 0)
}

// viewNote describes a view.
func viewNote(v View) string {
	var parts []string
	if v.Filter != "" {
		parts = append(parts, "filter "+v.Filter)
	}
	if v.Pane != "" {
		parts = append(parts, "starts in "+v.Pane)
	}
	_, panes := board.PaneTitles()
	for _, pane := range panes {
		if names := v.Columns[pane]; len(names) > 0 {
			parts = append(parts, pane+": "+strings.Join(names, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// showView applies v. Settings that v omits get their defaults.
func (m *model) showView(v NamedView) tea.Cmd {
	if err := m.applyView(v); err != nil {
		return m.Refuse(v.Name + ": " + err.Error())
	}
	return m.Answer("view " + v.Name)
}

// applyView applies v to the board.
func (m *model) applyView(v NamedView) error {
	f, err := filter.Parse(v.View.Filter)
	if err != nil {
		return err
	}
	m.viewName = v.Name
	m.Session.SetFilter(f)
	_, panes := board.PaneTitles()
	for _, pane := range panes {
		m.board.ShowColumns(pane, v.View.Columns[pane])
		m.board.SortPane(pane, v.View.Sorts[pane])
	}
	if v.View.Pane != "" {
		m.board.FocusOn(v.View.Pane)
	}
	return nil
}

// How the program starts, besides the name of a view: with the board, or with the last view.
const (
	StartBoard = "board"
	StartLast  = "last"
)

// applyStart applies the view that the program starts with.
func (m *model) applyStart() {
	v := m.options.recall(m.options.Source)
	if v != nil && m.options.Start != StartLast {
		v.Filter, v.Layout, v.Pane = "", "", ""
	}
	m.restoreView(v)
	for _, own := range m.options.Views {
		if own.Name == m.options.Start {
			if m.Frame.Filter != "" {
				own.View.Filter = m.Frame.Filter // from the command line
			}
			m.showView(own)
			m.ClearNotices() // about the view
		}
	}
}
