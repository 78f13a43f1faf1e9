package tui

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/session"
)

// localOnlyActions are the actions that use the local machine: its files, its clipboard, its shell. A rerun is one of them, since it
// takes seconds of a shared CPU.
var localOnlyActions = [...]keymap.ID{keymap.Apply, keymap.Recordings, keymap.Beside, keymap.CopyMore, keymap.CopyCommand, keymap.Suspend, keymap.Rerun}

// Served returns o for a user on another machine, who gets no access to this one: only the looks, and the default keys without
// localOnlyActions.
func (o Options) Served() Options {
	return Options{
		NoColor: o.NoColor, Theme: o.Theme, Skins: o.Skins, Glyphs: o.Glyphs, Projector: o.Projector, NoMouse: o.NoMouse,
		Keys: slices.DeleteFunc(keymap.Default(), func(b keymap.Binding) bool { return slices.Contains(localOnlyActions[:], b.ID) }),
	}
}

// NewServed returns a screen that runs and shows s for a user on another machine. It ends with ctx and needs no terminal.
func NewServed(ctx context.Context, s *session.Session, o Options) tea.Model {
	return newModel(ctx, s, o.Served())
}

// Crash returns the panic that ended the program, or nil.
func (m *model) Crash() error {
	if m.crash == nil {
		return nil
	}
	return fmt.Errorf("%s\n%s", firstWords(fmt.Sprint(m.crash.What)), m.crash.Stack)
}

// Question returns the open question of a lesson, and the keys that answer it. It reports false if none is open.
func (m *model) Question() (asked lessons.Given, keys []string, open bool) {
	if m.lesson == nil {
		return lessons.Given{}, nil, false
	}
	return m.lesson.Question()
}

// Size returns the approximate memory use of the session in bytes.
func (m *model) Size() int64 { return m.Session.Size() }

// Slow limits the session to real time and stops a search, since a session grows with what happens in it.
func (m *model) Slow() tea.Cmd {
	if m.Frame.Searching != "" {
		m.Session.Pause()
	}
	if m.Frame.Speed <= 1 {
		return nil
	}
	told := m.Refuse("low memory: this session now plays at 1x")
	m.Session.SetSpeed(1)
	return told
}
