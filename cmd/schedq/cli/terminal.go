package cli

import (
	"os"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Terminal is the terminal that the program was started at, in its state at that time.
type Terminal struct {
	fd    int
	state *term.State
}

// CurrentTerminal returns the terminal of the program, or nil if there is none. Call it before
// anything changes the terminal.
func CurrentTerminal() *Terminal {
	for _, fd := range []int{int(syscall.Stdin), int(syscall.Stdout), int(syscall.Stderr)} {
		if state, err := term.GetState(fd); err == nil {
			return &Terminal{fd: fd, state: state}
		}
	}
	return nil
}

// popKeyboard is ansi.PopKittyKeyboard(1).
const popKeyboard = "\x1b[<1u"

// leaveScreen undoes the modes that the screen sets.
const leaveScreen = ansi.ResetModeSynchronizedOutput + ansi.ResetModifyOtherKeys + popKeyboard +
	ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr + ansi.ResetModeBracketedPaste +
	ansi.ResetModeAltScreenSaveCursor + ansi.ResetStyle + ansi.ShowCursor

// writeTimeout limits the wait for a terminal that accepts no output.
const writeTimeout = 200 * time.Millisecond

// Restore restores the terminal if the screen still holds it, even while the rest of the program is
// stuck. It does nothing on a nil Terminal, or when another program owns the terminal by now.
func (t *Terminal) Restore() {
	if t == nil || !inForeground(t.fd) {
		return
	}
	if now, err := term.GetState(t.fd); err != nil || *now == *t.state {
		return // the terminal is gone, or the screen never took it or left it
	}
	_ = term.Restore(t.fd, t.state) // the program ends: there is nobody to report to
	written := make(chan struct{})
	go func() {
		// Its own file: a write that never ends may hold os.Stdout.
		os.NewFile(uintptr(syscall.Stdout), "terminal").WriteString(leaveScreen)
		close(written)
	}()
	select {
	case <-written:
	case <-time.After(writeTimeout):
	}
}
