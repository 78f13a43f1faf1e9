package cli

import (
	"os"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Terminal is the terminal that the program was begun at, as it was then.
type Terminal struct {
	fd    int
	state *term.State
}

// BegunAt returns the terminal that the program was begun at, or nil if there is none. It is called before anything
// changes the terminal.
func BegunAt() *Terminal {
	for _, fd := range []int{int(syscall.Stdin), int(syscall.Stdout), int(syscall.Stderr)} {
		if state, err := term.GetState(fd); err == nil {
			return &Terminal{fd: fd, state: state}
		}
	}
	return nil
}

// popKeyboard is ansi.PopKittyKeyboard(1).
const popKeyboard = "\x1b[<1u"

// leaveScreen is what a terminal must be told where the screen could not leave by itself.
const leaveScreen = ansi.ResetModeSynchronizedOutput + ansi.ResetModifyOtherKeys + popKeyboard +
	ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr + ansi.ResetModeBracketedPaste +
	ansi.ResetModeAltScreenSaveCursor + ansi.ResetStyle + ansi.ShowCursor

// deaf is how long a terminal that takes no more text is waited for.
const deaf = 200 * time.Millisecond

// Restore has the terminal be as it was, if the screen still has it, whatever the rest of the program does. A
// terminal that is another program's by now is left alone. A nil Terminal has nothing to restore.
func (t *Terminal) Restore() {
	if t == nil || !foreground(t.fd) {
		return
	}
	if now, err := term.GetState(t.fd); err != nil || *now == *t.state {
		return // it is gone, or the screen was not taken or is left already
	}
	_ = term.Restore(t.fd, t.state) // there is nobody left to tell
	written := make(chan struct{})
	go func() {
		// A file of its own: os.Stdout may be held by a write that does not end.
		os.NewFile(uintptr(syscall.Stdout), "terminal").WriteString(leaveScreen)
		close(written)
	}()
	select {
	case <-written:
	case <-time.After(deaf):
	}
}
