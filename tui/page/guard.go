package page

import (
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// Ready is a message of a command that has ended: what is left to do in Update.
type Ready func() tea.Cmd

// Crash is a mistake in the program: a panic, and where it was.
type Crash struct {
	What  any
	Stack []byte
}

// Recovered makes a crash of what recover returned, in the function that was deferred.
func Recovered(r any) *Crash { return &Crash{What: r, Stack: debug.Stack()} }

// CrashMsg is a panic outside of Update.
type CrashMsg struct{ Crash *Crash }

// Guarded has a panic in cmd arrive as a message, so that it can be told when the screen is gone. Left
// to bubbletea, it would be written onto the screen that is about to be closed.
func Guarded(cmd tea.Cmd) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = CrashMsg{Recovered(r)}
			}
		}()
		return cmd()
	}
}
