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

// hostly are the bindings that are about the machine that the program runs on: its files, its clipboard, its shell.
// Running a recording again is one of them, too: each time takes seconds of a processor that others share.
var hostly = [...]keymap.ID{keymap.Apply, keymap.Recordings, keymap.Beside, keymap.Copy, keymap.CopyMore, keymap.Suspend, keymap.Rerun}

// Served returns what of o is for somebody at another machine, who is to find no way to this one: only the look.
// The keys are the built-in ones, without those that are about the machine.
func (o Options) Served() Options {
	return Options{
		NoColor: o.NoColor, Theme: o.Theme, Skins: o.Skins, Glyphs: o.Glyphs, Projector: o.Projector, NoMouse: o.NoMouse,
		Keys: slices.DeleteFunc(keymap.Default(), func(b keymap.Binding) bool { return slices.Contains(hostly[:], b.ID) }),
	}
}

// NewServed returns a screen that shows s to somebody at another machine. It needs no terminal of its own, has s run,
// and ends when ctx does.
func NewServed(ctx context.Context, s *session.Session, o Options) tea.Model {
	return newModel(ctx, s, o.Served())
}

// Crash returns the mistake in the program that ended it, or nil.
func (m *model) Crash() error {
	if m.crash == nil {
		return nil
	}
	return fmt.Errorf("%s\n%s", firstWords(fmt.Sprint(m.crash.What)), m.crash.Stack)
}

// Question is the one that a lesson asks now, not answered yet, and the keys that answer it. It reports false if none is
// open.
func (m *model) Question() (asked lessons.Given, keys []string, open bool) {
	if m.lesson == nil {
		return lessons.Given{}, nil, false
	}
	return m.lesson.Question()
}

// Size is about how many bytes of memory the session holds that is shown.
func (m *model) Size() int64 { return m.Session.Size() }

// Slow has the session play no faster than time passes, and look no further for what a person asked for. It grows by
// what happens in it.
func (m *model) Slow() tea.Cmd {
	if m.Frame.Searching != "" {
		m.Session.Pause()
	}
	if m.Frame.Speed <= 1 {
		return nil
	}
	told := m.Refuse("memory is short here, and this session holds much: it plays at 1x")
	m.Session.SetSpeed(1)
	return told
}
