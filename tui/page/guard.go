package page

import (
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// Ready is the message of a finished command. Update calls it.
type Ready func() tea.Cmd

// Crash is a recovered panic.
type Crash struct {
	What  any
	Stack []byte
}

// Recovered returns the crash for the result of recover. A deferred function calls it.
func Recovered(r any) *Crash { return &Crash{What: r, Stack: debug.Stack()} }

// CrashMsg reports a panic outside of Update.
type CrashMsg struct{ Crash *Crash }

// Guarded returns cmd with panics turned into messages, so that they are reported after the terminal is restored. bubbletea
// would print them onto the screen that it is about to close.
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
