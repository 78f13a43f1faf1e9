package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/room/web"
)

// TestMessageLimits: messages above the limit end the connection, before and after the login.
func TestMessageLimits(t *testing.T) {
	s := open(t, web.Config{}, nil)
	eve := &visitor{t: t, ws: s.dial()}
	if err := eve.ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"name":"eve","code":%q%s}`, code, strings.Repeat(" ", 3<<10))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := eve.ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("3 KiB before the login: %v", err)
	}
	ada := s.visitor("ada").sees("notebook of ada")
	ada.pastes(strings.Repeat("x", 12<<10)).sees("xxxxxxxx")
	if status := ada.pastes(strings.Repeat("x", 17<<10)).waitEnd(); status != websocket.StatusMessageTooBig {
		t.Errorf("17 KiB of input in one message: %d", status)
	}
	s.checkServes()
}

// TestSilentConnectionIsReplaced: silent connections don't replace one with the page open.
func TestSilentConnectionIsReplaced(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.Pending = 2 })
	ada := &visitor{t: t, ws: s.dial()}
	silent := s.connect()
	<-time.After(1200 * time.Millisecond) // until the connection counts as silent
	s.connect()
	waitClosed(t, silent)
	s.logs("connection dropped: too many without a code")
	if ada.sends(object{"name": "ada", "code": code}); ada.reply()["is"] != "in" {
		t.Error("the right code is rejected")
	}
}
