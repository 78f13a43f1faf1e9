package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/canvas"
)

// addFolding adds what a person does with pod groups.
func (m *model) addFolding(all map[keymap.ID]action) {
	all[keymap.Fold] = action{do: m.toggleGroup, cannot: func() string {
		if p := m.selected.pod(m.frame); p == nil || p.Group == "" {
			return "the selected pod is of no pod group: they are queued as one with --feature-gates=GenericWorkload=true"
		}
		return ""
	}}
}

// toggleGroup unfolds the group of the selected pod, or folds it.
func (m *model) toggleGroup() tea.Cmd {
	if group, ok := m.selected.pod(m.frame).PodGroup(); ok {
		m.session.ToggleGroup(group)
	}
	return nil
}

// mostMates is the largest number of pods of a group that is counted.
const mostMates = 1000

// rowName is what a row calls its pod in width columns: by its name, or by its group's if it stands for the
// group.
func rowName(b *session.Board, p *session.Pod, width int) string {
	if p.Group == "" {
		return canvas.Middle(podName(p.Key, width), width)
	}
	if b.Folded(p) {
		n := b.Mates(p, mostMates)
		size := " ×" + strconv.Itoa(n)
		if n == mostMates {
			size = " ×1k+"
		}
		room := width - canvas.Width(size) - 2
		return glyphFolded + " " + canvas.Middle(safe(p.Group), max(1, room)) + size
	}
	mark := "  "
	if b.First(p) {
		mark = glyphUnfolded + " "
	}
	return mark + canvas.Middle(podName(p.Key, width-2), max(1, width-2))
}
