package page

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
)

// Action is what a key binding does.
type Action struct {
	// Do performs the action. key is the key that was pressed, or "" if it was chosen with the mouse or from a list.
	Do func(key string) tea.Cmd
	// Cannot returns why the action is unavailable, or "". Nil: it is always available.
	Cannot func() string
	// Name returns the current name of an action whose name changes. Nil: the binding has the name.
	Name func() string
}

// Actions are the actions by the ID of their bindings, in all contexts.
type Actions map[keymap.ID]Action

// Refusal returns why the action is unavailable, or "".
func (a Action) Refusal() string {
	if a.Cannot == nil {
		return ""
	}
	return a.Cannot()
}

// Do returns an action that ignores the key.
func Do(do func() tea.Cmd) Action {
	return Action{Do: func(string) tea.Cmd { return do() }}
}

// Command returns an action that ignores the key and starts no command.
func Command(do func()) Action {
	return Action{Do: func(string) tea.Cmd { do(); return nil }}
}

// DisabledWhen returns the action with a function that returns why it is unavailable, or "".
func (a Action) DisabledWhen(cannot func() string) Action {
	a.Cannot = cannot
	return a
}

// NamedBy returns the action with a function that returns its current name.
func (a Action) NamedBy(name func() string) Action {
	a.Name = name
	return a
}
