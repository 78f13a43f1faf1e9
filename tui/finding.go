package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/filter"
)

func (m *model) addFinding(all map[keymap.ID]action) {
	all[keymap.Filter] = action{do: m.askFilter}
	all[keymap.Sort] = action{do: m.chooseSort}.unless(func() string {
		if m.focus == logPane {
			return "the log is sorted by time: 1 to 4 go to pods"
		}
		return ""
	})
	all[keymap.CountGroups] = action{do: m.countGroups}
}

// askFilter asks for a filter, which shows its effect with every letter.
func (m *model) askFilter() tea.Cmd {
	old := m.frame.Filter
	m.ask(prompt{
		title:     "filter",
		hint:      "words !not /regex/ ~fuzzy -l app=web ns:shop plugin:Taint tier:backoff attempts>3 prio>=100 waiting>5m",
		changed:   m.setFilter,
		cancelled: func() { m.setFilter(old) },
		accept:    m.setFilter,
	}, old)
	return nil
}

// setFilter shows the pods that match, or says what is wrong with the filter.
func (m *model) setFilter(text string) (mistake string) {
	f, err := filter.Parse(text)
	if err != nil {
		return err.Error()
	}
	m.session.SetFilter(f)
	return ""
}

// columnNames say what each column is called on the screen.
var columnNames = map[session.Column][2]string{
	session.ByQueue:     {"the queue's order", "activeQ by priority and time, backoffQ by expiry, the others by their last failure."},
	session.ByName:      {"name", "From a to z."},
	session.ByNamespace: {"namespace", "From a to z, then by name."},
	session.ByPriority:  {"priority", "The highest first."},
	session.ByAttempts:  {"attempts", "The most first."},
	session.ByWaiting:   {"time in the queue", "Those first that came first."},
	session.ByDwell:     {"time in the tier", "Those first that have been in it for longest."},
	session.ByExpiry:    {"backoff expiry", "Those first whose backoff ends first."},
	session.ByPlugin:    {"plugin", "By what rejected them, from a to z."},
	session.ByOwner:     {"owner", "By namespace, then by the controller's name."},
}

// chooseSort lists the columns and sorts the pods of the pane in focus by the chosen one.
func (m *model) chooseSort() tea.Cmd {
	tiers := m.panes[m.focus].tiers
	now := m.frame.Board.Sort(tiers[0])
	columns := session.Columns()
	l := list{title: "sort " + paneTitles[m.focus] + " by", choose: func(chosen []int) tea.Cmd {
		by := session.Sort{By: columns[chosen[0]]}
		by.Reverse = by.By == now.By && !now.Reverse
		m.session.SortBy(by, tiers...)
		return nil
	}}
	at := 0
	for i, c := range columns {
		text, note := columnNames[c][0], columnNames[c][1]
		if c == now.By {
			at = i
			note = "It is sorted by this now; choose it again to turn it round. " + note
			text += sortArrow(now)
		}
		l.items = append(l.items, item{text: text, note: note})
	}
	m.openList(l)
	m.list.move(at)
	return nil
}

// sortArrow shows which way pods are sorted.
func sortArrow(s session.Sort) string {
	if s.Reverse {
		return " " + glyphHigh
	}
	return " " + glyphLow
}

// sortedBy is what a pane's title says of its order. Empty if that is the queue's.
func sortedBy(s session.Sort) string {
	if s == (session.Sort{}) {
		return ""
	}
	return "by " + columnNames[s.By][0] + sortArrow(s) + " "
}

// groupsCounted are the groups of the pods of a frame.
type groupsCounted struct{ groups []session.Group }

// countGroups counts outside of Update, because that takes longer the more pods there are.
func (m *model) countGroups() tea.Cmd {
	board := m.frame.Board
	return guarded(func() tea.Msg {
		var all []session.Group
		for _, by := range session.Groupings() {
			all = append(all, board.Groups(by)...)
		}
		return groupsCounted{all}
	})
}

// chooseGroup lists groups and shows the pods of the chosen one: the filter gets a word more.
func (m *model) chooseGroup(groups []session.Group) {
	var of []*session.Group // by item, nil for a heading
	l := list{title: "groups: enter shows only those pods", choose: func(chosen []int) tea.Cmd {
		word, ok := groupFilter(of[chosen[0]])
		if !ok {
			return m.tell(notice{"no filter selects these pods", true})
		}
		m.setFilter(strings.TrimSpace(m.frame.Filter + " " + word))
		return nil
	}}
	by := session.Grouping("")
	for i := range groups {
		g := &groups[i]
		if g.By != by {
			by = g.By
			l.items = append(l.items, item{text: groupHeadings[by], heading: true})
			of = append(of, nil)
		}
		l.items = append(l.items, item{key: plural(g.Pods, "pod"), text: groupName(g), note: groupNote(g)})
		of = append(of, g)
	}
	if len(groups) == 0 {
		l.items = append(l.items, item{text: "No pod is in the queue, or none that matches the filter.", heading: true})
	}
	m.openList(l)
}

var groupHeadings = map[session.Grouping]string{
	session.PerPlugin:    "They wait for",
	session.PerNamespace: "Namespace",
	session.PerOwner:     "Owner",
}

func groupName(g *session.Group) string {
	switch {
	case g.Name != "" && g.Namespace != "" && g.Namespace != "default":
		return safe(g.Namespace + ": " + g.Name)
	case g.Name != "":
		return safe(g.Name)
	case g.By == session.PerPlugin:
		return "no plugin"
	default:
		return "no " + string(g.By)
	}
}

// groupNote says how many pods of g are in each tier.
func groupNote(g *session.Group) string {
	var parts []string
	for tier := queue.Active; tier <= queue.InFlight; tier++ {
		if n := g.Tiers[tier]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", number(n), tierName(tier)))
		}
	}
	return strings.Join(parts, ", ")
}

// groupFilter returns the words that select the pods of g, if there are any.
func groupFilter(g *session.Group) (string, bool) {
	if g.Name == "" || strings.ContainsAny(g.Name+g.Namespace, "\" \t\r\n") {
		return "", false
	}
	switch g.By {
	case session.PerPlugin:
		return "plugin=" + g.Name, true
	case session.PerNamespace:
		return "ns=" + g.Name, true
	default:
		return "ns=" + g.Namespace + " owner=" + g.Name, true
	}
}
