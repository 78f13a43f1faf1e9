package tui

import (
	"context"
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
		source  string
		view    *View // how it was looked at last, or nil
		err     error
	}
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
func open(r Recording, o Options) tea.Cmd {
	return guarded(func() tea.Msg {
		s, err := r.Open()
		return openedMsg{r.Name, s, r.Source, o.recall(r.Source), err}
	})
}

// noticeTime is how long an answer stays if no key is pressed.
const noticeTime = 8 * time.Second

func forget(number int) tea.Cmd {
	return tea.Tick(noticeTime, func(time.Time) tea.Msg { return forgetMsg{number} })
}
