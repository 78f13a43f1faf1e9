package board

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// addFinding adds the actions that find, sort and filter pods.
func (b *Board) addFinding(all page.Actions) {
	all[keymap.Filter] = page.Do(b.askFilter)
	all[keymap.Sort] = page.Do(b.chooseSort).DisabledWhen(func() string {
		if b.focus == logPane {
			return b.Keys.Say("the log is always sorted by time; {focus-active}, {focus-backoff}, {focus-unschedulable} and {focus-in-flight} go to panes with pods")
		}
		return ""
	})
	all[keymap.GoToPod] = page.Do(b.askPod)
	all[keymap.GoToLongest] = page.Do(b.showLongest).DisabledWhen(func() string {
		if b.Frame.Board.LongestWaiting() == nil {
			return "no pod is waiting"
		}
		return ""
	})
	all[keymap.ChooseShown] = page.Do(b.askColumns).DisabledWhen(func() string {
		if b.focus > unschedulablePane {
			return "only activeQ, backoffQ and unschedulable have columns"
		}
		return ""
	})
	all[keymap.CountGroups] = page.Do(b.countGroups)
}

// askFilter asks for a filter and previews its effect with every letter.
func (b *Board) askFilter() tea.Cmd {
	old := b.Frame.Filter
	return widget.Ask(b.UI, widget.Prompt{
		Title:     "filter",
		Hint:      "words !not /regex/ ~fuzzy -l app=web ns:shop plugin:Taint tier:backoff attempts>3 prio>=100 waiting>5m",
		Changed:   b.setFilter,
		Cancelled: func() { b.setFilter(old) },
		Accept:    b.setFilter,
		Complete:  func(text string) []string { return widget.FilterWords(b.UI, text) },
	}, "")
}

// setFilter sets the filter, or returns an error text.
func (b *Board) setFilter(text string) (mistake string) {
	f, err := filter.Parse(text)
	if err != nil {
		return err.Error()
	}
	b.Session.SetFilter(f)
	return ""
}

// columnNames has the name and the description of each sort order.
var columnNames = map[board.Column][2]string{
	board.ByQueue:     {"the queue's order", "activeQ by priority and time, backoffQ by expiry, the others by waiting time."},
	board.ByName:      {"name", "Alphabetical."},
	board.ByNamespace: {"namespace", "Alphabetical, then by name."},
	board.ByPriority:  {"priority", "Highest first."},
	board.ByAttempts:  {"attempts", "Most first."},
	board.ByWaiting:   {"time in the queue", "Longest first."},
	board.ByDwell:     {"time in the tier", "Longest first."},
	board.ByExpiry:    {"next try", "Soonest first: by the end of the backoff, or by the leftover flush."},
	board.ByPlugin:    {"plugin", "By rejecting plugin, alphabetical."},
	board.ByOwner:     {"owner", "By namespace, then by controller name."},
	board.ByNode:      {"nominated node", "Alphabetical; pods without one last."},
}

// chooseSort lists the sort orders and sorts the focused pane by the chosen one.
func (b *Board) chooseSort() tea.Cmd {
	tiers := b.panes[b.focus].tiers
	now := b.Frame.Board.Sort(tiers[0])
	columns := board.Columns()
	l := widget.List{Title: "sort " + paneTitles[b.focus] + " by", Choose: func(chosen []int) tea.Cmd {
		by := board.Sort{By: columns[chosen[0]]}
		by.Reverse = by.By == now.By && !now.Reverse
		b.Session.SortBy(by, tiers...)
		return nil
	}}
	at := 0
	for i, c := range columns {
		text, note := columnNames[c][0], columnNames[c][1]
		if c == now.By {
			at = i
			note = "Current sort; choose again to reverse. " + note
			text += " " + sortArrow(now)
		}
		l.Items = append(l.Items, widget.Item{Text: text, Note: note})
	}
	return widget.OpenList(b.UI, l, at)
}

// sortArrow shows the direction of a sort order.
func sortArrow(s board.Sort) string {
	if s.Reverse {
		return theme.GlyphHigh
	}
	return theme.GlyphLow
}

// sortedBy returns the text for a pane's title if no heading shows the order. Empty for the queue's
// order.
func sortedBy(s board.Sort) string {
	if s == (board.Sort{}) {
		return ""
	}
	return "by " + columnNames[s.By][0] + " " + sortArrow(s) + " "
}
