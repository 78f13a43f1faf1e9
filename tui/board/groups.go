package board

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// countGroups counts outside Update, because the time grows with the number of pods.
func (b *Board) countGroups() tea.Cmd {
	shown := b.Frame.Board
	return page.Guarded(func() tea.Msg {
		var all []board.Group
		for _, by := range board.Groupings() {
			all = append(all, shown.Groups(by)...)
		}
		return page.Ready(func() tea.Cmd {
			if b.Overlays.Top() != nil {
				return nil // the user is busy with something else
			}
			return b.chooseGroup(all)
		})
	})
}

// chooseGroup lists groups and shows the pods of the chosen one by adding to the filter.
func (b *Board) chooseGroup(groups []board.Group) tea.Cmd {
	var of []*board.Group // by item, nil for a heading
	l := widget.List{Title: b.Keys.Say("groups: {list-choose} shows only those pods"), Choose: func(chosen []int) tea.Cmd {
		word, ok := groupFilter(of[chosen[0]])
		if !ok {
			return b.Refuse("no filter can select these pods")
		}
		b.setFilter(strings.TrimSpace(b.Frame.Filter + " " + word))
		return nil
	}}
	by := board.Grouping("")
	for i := range groups {
		g := &groups[i]
		if g.By != by {
			by = g.By
			l.Items = append(l.Items, widget.Item{Text: groupHeadings[by], Heading: true})
			of = append(of, nil)
		}
		l.Items = append(l.Items, widget.Item{Key: format.Plural(g.Pods, "pod"), Text: groupName(g), Note: groupNote(g)})
		of = append(of, g)
	}
	if len(groups) == 0 {
		l.Items = append(l.Items, widget.Item{Text: "No pod is in the queue, or none matches the filter.", Heading: true})
	}
	return widget.OpenList(b.UI, l, 0)
}

var groupHeadings = map[board.Grouping]string{
	board.PerPlugin:    "Waiting for",
	board.PerNamespace: "Namespace",
	board.PerOwner:     "Owner",
}

func groupName(g *board.Group) string {
	switch {
	case g.Name != "" && g.Namespace != "" && g.Namespace != "default":
		return format.Safe(g.Namespace + ": " + g.Name)
	case g.Name != "":
		return format.Safe(g.Name)
	case g.By == board.PerPlugin:
		return "no plugin"
	default:
		return "no " + string(g.By)
	}
}

// groupNote returns the number of pods of g in each tier.
func groupNote(g *board.Group) string {
	var parts []string
	for tier := queue.Active; tier <= queue.InFlight; tier++ {
		if n := g.Tiers[tier]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", format.Number(n), theme.TierName(tier)))
		}
	}
	return strings.Join(parts, ", ")
}

// groupFilter returns the filter for the pods of g, if there is one.
func groupFilter(g *board.Group) (string, bool) {
	if g.Name == "" || strings.ContainsAny(g.Name+g.Namespace, "\" \t\r\n") {
		return "", false
	}
	switch g.By {
	case board.PerPlugin:
		return "plugin=" + g.Name, true
	case board.PerNamespace:
		return "ns=" + g.Name, true
	default:
		return "ns=" + g.Namespace + " owner=" + g.Name, true
	}
}

// addFolding adds the actions for pod groups.
func (b *Board) addFolding(all page.Actions) {
	all[keymap.Fold] = page.Command(func() {
		if group, ok := b.Pod().PodGroup(); ok {
			b.Session.ToggleGroup(group)
		}
	}).DisabledWhen(func() string {
		if p := b.Pod(); p == nil || p.Group == "" {
			return "this pod is not in a pod group; groups are queued as one with --feature-gates=GenericWorkload=true"
		}
		return ""
	})
}
