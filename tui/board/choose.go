package board

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/widget"
)

// askColumns asks which columns the pane in focus has, and in which order. What is typed shows at once.
func (b *Board) askColumns() tea.Cmd {
	id := b.focus
	old := b.ColumnsOf(paneTitles[id])
	return widget.Ask(b.UI, widget.Prompt{
		Title:    "columns of " + paneTitles[id],
		Hint:     strings.Join(ColumnNames(), " ") + "; empty: the usual ones",
		Complete: func(text string) []string { return widget.Starting(text, ColumnNames()) },
		Changed:  func(text string) string { return b.changeColumns(id, text) },
		Cancelled: func() {
			b.setColumns(id, old)
		},
		Accept: func(text string) string { return b.changeColumns(id, text) },
	}, strings.Join(b.shownColumns(id), " "))
}

// changeColumns shows the columns that text names, or says what is wrong with it.
func (b *Board) changeColumns(id paneID, text string) (mistake string) {
	names := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	if err := CheckColumns(names); err != nil {
		return err.Error()
	}
	b.setColumns(id, names)
	return ""
}

// CheckColumns says what is wrong with a choice of columns: a name that no column has, or one that is there twice.
func CheckColumns(names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		switch c := columnNamed(name); {
		case c == nil:
			return fmt.Errorf("there is no column %q; there are %s", name, strings.Join(ColumnNames(), ", "))
		case seen[c.name]:
			return fmt.Errorf("the column %s is there twice", name)
		default:
			seen[c.name] = true
		}
	}
	return nil
}

// setColumns has a pane show the columns of those names, or the usual ones if there is none. Where there is no room for
// all, those named first stay.
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

// shownColumns are the names of a pane's columns.
func (b *Board) shownColumns(id paneID) []string {
	var names []string
	for _, c := range b.columns[id] {
		names = append(names, c.name)
	}
	return names
}

// ColumnsOf are the columns that a person chose for the pane of that title, or none.
func (b *Board) ColumnsOf(title string) []string {
	if i := slices.Index(paneTitles[:len(b.columns)], title); i >= 0 && b.ownColumns[i] {
		return b.shownColumns(paneID(i))
	}
	return nil
}

// ShowColumns has the pane of that title show the columns of those names, or the usual ones.
func (b *Board) ShowColumns(title string, names []string) {
	if i := slices.Index(paneTitles[:len(b.columns)], title); i >= 0 && CheckColumns(names) == nil {
		b.setColumns(paneID(i), names)
	}
}

// PaneTitles are the titles of all panes, and of those whose columns can be chosen, which come first.
func PaneTitles() (all, ofPods []string) { return paneTitles[:], paneTitles[:unschedulablePane+1] }

// SortOf is what the pods of the pane of that title are sorted by, as text has it: by a column, after a - turned round.
func SortOf(title, text string) (board.Sort, error) {
	name, reverse := strings.CutPrefix(text, "-")
	if c := columnNamed(name); c != nil {
		return board.Sort{By: c.by, Reverse: reverse}, nil
	}
	return board.Sort{}, fmt.Errorf("there is no column %q to sort by; there are %s", name, strings.Join(ColumnNames(), ", "))
}

// SortPane sorts the pods of the pane of that title.
func (b *Board) SortPane(title string, by board.Sort) {
	if i := slices.Index(paneTitles[:len(b.columns)], title); i >= 0 {
		b.Session.SortBy(by, b.panes[i].tiers...)
	}
}

// sortByHeading sorts a pane by the column at x of its room, or turns it round if it is sorted so.
func (b *Board) sortByHeading(id paneID, x int) {
	p := b.pane(id)
	now := b.Frame.Board.Sort(p.rows.tiers[0])
	for _, c := range p.fitted {
		if x >= c.x-1 && x < c.x+c.w {
			by := board.Sort{By: c.by}
			by.Reverse = by.By == now.By && !now.Reverse
			b.Session.SortBy(by, p.rows.tiers...)
		}
	}
}
