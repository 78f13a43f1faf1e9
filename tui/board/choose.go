package board

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/widget"
)

// askColumns asks for the columns of the focused pane and their order. Typing previews the effect.
func (b *Board) askColumns() tea.Cmd {
	id := b.focus
	old := b.ColumnsOf(paneTitles[id])
	return widget.Ask(b.UI, widget.Prompt{
		Title:    "columns of " + paneTitles[id],
		Hint:     strings.Join(ColumnNames(), " ") + "; empty: the default",
		Complete: func(text string) []string { return widget.Starting(text, ColumnNames()) },
		Changed:  func(text string) string { return b.changeColumns(id, text) },
		Cancelled: func() {
			b.setColumns(id, old)
		},
		Accept: func(text string) string { return b.changeColumns(id, text) },
	}, strings.Join(b.shownColumns(id), " "))
}

// changeColumns shows the columns named in text, or returns an error text.
func (b *Board) changeColumns(id paneID, text string) (mistake string) {
	names := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	if err := CheckColumns(names); err != nil {
		return err.Error()
	}
	b.setColumns(id, names)
	return ""
}

// CheckColumns returns an error if a column is unknown or repeated.
func CheckColumns(names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		switch c := columnNamed(name); {
		case c == nil:
			return fmt.Errorf("unknown column %q: use one of %s", name, strings.Join(ColumnNames(), ", "))
		case seen[c.name]:
			return fmt.Errorf("duplicate column %s", name)
		default:
			seen[c.name] = true
		}
	}
	return nil
}

// setColumns sets the columns of a pane, or its default columns if names is empty. If not all fit,
// the first ones stay.
func (b *Board) setColumns(id paneID, names []string) {
	b.ownColumns[id] = len(names) > 0
	if b.ownColumns[id] {
		b.columns[id] = columnsNamed(names)
		b.important[id] = b.shownColumns(id)
		return
	}
	names, b.important[id] = usualColumns(id)
	b.columns[id] = columnsNamed(names)
}

// shownColumns returns the names of a pane's columns.
func (b *Board) shownColumns(id paneID) []string {
	var names []string
	for _, c := range b.columns[id] {
		names = append(names, c.name)
	}
	return names
}

// ColumnsOf returns the columns that the user chose for the pane with that title, or nil.
func (b *Board) ColumnsOf(title string) []string {
	if i := slices.Index(paneTitles[:len(b.columns)], title); i >= 0 && b.ownColumns[i] {
		return b.shownColumns(paneID(i))
	}
	return nil
}

// ShowColumns sets the columns of the pane with that title, or its default columns.
func (b *Board) ShowColumns(title string, names []string) {
	if i := slices.Index(paneTitles[:len(b.columns)], title); i >= 0 && CheckColumns(names) == nil {
		b.setColumns(paneID(i), names)
	}
}

// PaneTitles returns the titles of all panes, and of those with columns, which come first.
func PaneTitles() (all, ofPods []string) { return paneTitles[:], paneTitles[:unschedulablePane+1] }

// SortOf parses a sort order for the pane with that title: a column name, with a leading - to
// reverse it.
func SortOf(title, text string) (board.Sort, error) {
	name, reverse := strings.CutPrefix(text, "-")
	switch c := columnNamed(name); {
	case c == nil:
	case c.by == board.ByQueue:
		return board.Sort{}, fmt.Errorf("pods have no order by column %q", name)
	default:
		return board.Sort{By: c.by, Reverse: reverse}, nil
	}
	return board.Sort{}, fmt.Errorf("unknown column %q: sort by one of %s", name, strings.Join(ColumnNames(), ", "))
}

// SortPane sorts the pods of the pane with that title.
func (b *Board) SortPane(title string, by board.Sort) {
	if i := slices.Index(paneTitles[:len(b.columns)], title); i >= 0 {
		b.Session.SortBy(by, b.panes[i].tiers...)
	}
}

// sortByHeading sorts a pane by the column at x, or reverses the order if it is already sorted by
// it.
func (b *Board) sortByHeading(id paneID, x int) {
	p := b.pane(id)
	now := b.Frame.Board.Sort(p.rows.tiers[0])
	for _, c := range p.fitted {
		if c.by != board.ByQueue && x >= c.x-1 && x < c.x+c.w {
			by := board.Sort{By: c.by}
			by.Reverse = by.By == now.By && !now.Reverse
			b.Session.SortBy(by, p.rows.tiers...)
		}
	}
}
