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

// A message that is too long is not read to its end, before the code as behind it; one that is not is taken.
func TestMessagesHaveBounds(t *testing.T) {
	s := open(t, web.Config{}, nil)
	eve := &visitor{t: t, ws: s.dial()}
	if err := eve.ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"name":"eve","code":%q%s}`, code, strings.Repeat(" ", 3<<10))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := eve.ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("3 KiB before the code end with %v", err)
	}
	ada := s.visitor("ada").sees("notebook of ada")
	ada.pastes(strings.Repeat("x", 12<<10)).sees("xxxxxxxx")
	if status := ada.pastes(strings.Repeat("x", 17<<10)).ends(); status != websocket.StatusMessageTooBig {
		t.Errorf("17 KiB typed at once end with %d", status)
	}
	s.goesOn()
}

// Who has opened the page and types the code stays, however many connections come that say nothing.
func TestWhoIsSilentMakesRoom(t *testing.T) {
	s := open(t, web.Config{}, func(c *room.Config) { c.Limits.Handshakes = 2 })
	ada := &visitor{t: t, ws: s.dial()}
	silent := s.connect()
	<-time.After(1200 * time.Millisecond) // until who has said nothing counts as silent
	s.connect()
	hungUp(t, silent)
	if ada.says(words{"name": "ada", "code": code}); ada.answered()["is"] != "in" {
		t.Error("who knows the code is not let in")
	}
}
