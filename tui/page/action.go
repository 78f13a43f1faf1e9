package page

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
)

// Action is what a binding does.
type Action struct {
	// Do performs the action. key is the key that was pressed, or "" if it was chosen with the mouse or from a list.
	Do func(key string) tea.Cmd
	// Cannot says why it cannot be done now, or is empty if it can. Nil: it always can.
	Cannot func() string
	// Name is what it is called at the moment, where that changes. Nil: as the binding says.
	Name func() string
}

// Actions are what the bindings do, whatever the context in which they have their keys.
type Actions map[keymap.ID]Action

// Refusal is why a cannot be done now, or empty.
func (a Action) Refusal() string {
	if a.Cannot == nil {
		return ""
	}
	return a.Cannot()
}

// Do returns an action that does not depend on the key.
func Do(do func() tea.Cmd) Action {
	return Action{Do: func(string) tea.Cmd { return do() }}
}

// Command returns an action that leaves nothing to wait for.
func Command(do func()) Action {
	return Action{Do: func(string) tea.Cmd { do(); return nil }}
}

// DisabledWhen gives a its reason for not being possible.
func (a Action) DisabledWhen(cannot func() string) Action {
	a.Cannot = cannot
	return a
}

// NamedBy gives a a name that changes.
func (a Action) NamedBy(name func() string) Action {
	a.Name = name
	return a
}
