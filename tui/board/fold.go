package board

import (
	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/page"
)

// addFolding adds what a person does with pod groups.
func (b *Board) addFolding(all page.Actions) {
	all[keymap.Fold] = page.Command(func() {
		if group, ok := b.Pod().PodGroup(); ok {
			b.Session.ToggleGroup(group)
		}
	}).Unless(func() string {
		if p := b.Pod(); p == nil || p.Group == "" {
			return "the selected pod is of no pod group: they are queued as one with --feature-gates=GenericWorkload=true"
		}
		return ""
	})
}
