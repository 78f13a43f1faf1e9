package tui

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
)

// ended waits until s has released its resources.
func ended(s *session.Session) {
	for range s.Frames() { // Run or Close closes the channel
	}
}

// TestSessionEndsBeforeTheProgramBegins: a session ends with its screen, even if the program never
// starts.
func TestSessionEndsBeforeTheProgramBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := paused(t, sample)
		newModel(ctx, s, Options{})
		cancel()
		ended(s)
	})
}

// TestUnshownSessionsEnd: a recording ends as well if the user cancels while it is opened, or
// replaces it before it is shown.
func TestUnshownSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened []*session.Session
		options := Options{Recordings: []Recording{{Name: "slow", Title: "Slow", Open: func(ctx context.Context, _ func(float64)) (*session.Session, error) {
			if len(opened) == 0 {
				<-ctx.Done() // it is opened in spite of that
			}
			s := paused(t, gangs)
			opened = append(opened, s)
			return s, nil
		}}}}
		p := sit(t, 80, 24, paused(t, sample), options)
		p.do(keymap.Recordings).enter("slow").sees("opening slow").do(keymap.Back).sees("stopped: opening slow")
		p.idle()
		ended(opened[0])
		p.do(keymap.Recordings).enter("slow")
		p.idle()
		p.do(keymap.Recordings).enter("slow") // replaces the previous one
		p.idle()
		ended(opened[1])
	})
}
