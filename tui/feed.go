package tui

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue/session"
)

// Messages that the commands below answer with.
type (
	// frameMsg is a new frame of a session, which may be one that is shown no longer.
	frameMsg struct {
		of    *session.Session
		frame *session.Frame
	}
	// openedMsg is a recording that was opened, or why it could not be.
	openedMsg struct {
		name    string
		session *session.Session
		err     error
	}
	// crashMsg is a panic outside of Update.
	crashMsg struct{ err error }
	// forgetMsg says that the notice of that number was shown for long enough.
	forgetMsg struct{ number int }
)

// runSession runs s until ctx ends. As a command of the program a panic in it ends the program in order.
func runSession(ctx context.Context, s *session.Session) tea.Cmd {
	return guarded(func() tea.Msg {
		s.Run(ctx)
		return nil
	})
}

// nextFrame waits for a frame of s. There is one such command under way for a session at any time.
func nextFrame(s *session.Session) tea.Cmd {
	return func() tea.Msg {
		f, ok := <-s.Frames()
		if !ok {
			return nil
		}
		return frameMsg{s, f}
	}
}

// open opens a recording.
func open(r Recording) tea.Cmd {
	return guarded(func() tea.Msg {
		s, err := r.Open()
		return openedMsg{r.Name, s, err}
	})
}

// guarded has a panic in cmd arrive as a message, so that it can be told when the screen is gone. Left
// to bubbletea, it would be written onto the screen that is about to be closed.
func guarded(cmd tea.Cmd) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = crashMsg{fmt.Errorf("schedq stopped because of a mistake in it: %v\n%s", r, debug.Stack())}
			}
		}()
		return cmd()
	}
}

// noticeTime is how long an answer stays if no key is pressed.
const noticeTime = 8 * time.Second

func forget(number int) tea.Cmd {
	return tea.Tick(noticeTime, func(time.Time) tea.Msg { return forgetMsg{number} })
}
