package tui

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
)

// ended waits until s has freed what it holds.
func ended(s *session.Session) {
	for range s.Frames() { // until Run or Close closes it
	}
}

// A session ends with the screen that shows it, also if the program never begins.
func TestSessionEndsBeforeTheProgramBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := paused(t, sample)
		newModel(ctx, s, Options{})
		cancel()
		ended(s)
	})
}

// A recording that is still being opened when the user stops that, or is never looked at, ends as well.
func TestUnshownSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened []*session.Session
		options := Options{Recordings: []Recording{{Name: "slow", Title: "Slow", Open: func(ctx context.Context, _ func(float64)) (*session.Session, error) {
			if len(opened) == 0 {
				<-ctx.Done() // and opened all the same
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
		p.do(keymap.Recordings).enter("slow") // in the place of the one before
		p.idle()
		ended(opened[1])
	})
}
