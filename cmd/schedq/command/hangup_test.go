package command

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/coder/websocket"
	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/internal/leak"
)

// TestHangUps: visitors who hang up, before the first frame, after it or during a what-if, leave
// nothing behind.
func TestHangUps(t *testing.T) {
	page := func(t *testing.T, address, name string) *websocket.Conn {
		ws, _, err := websocket.Dial(t.Context(), "ws://"+address+"/room", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://" + address}}})
		if err != nil {
			t.Fatal(err)
		}
		hello := fmt.Appendf(nil, `{"name":%q,"code":"monday-room","columns":40,"rows":10}`, name)
		if err := ws.Write(t.Context(), websocket.MessageText, hello); err != nil {
			t.Fatal(err)
		}
		if _, reply, err := ws.Read(t.Context()); err != nil {
			t.Fatalf("%s, %v", reply, err)
		}
		return ws
	}
	read := func(t *testing.T, ws *websocket.Conn) {
		if _, _, err := ws.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		shown serveFlags
		visit func(t *testing.T, ssh, web string)
	}{
		"page, at once": {serveFlags{lesson: "1"}, func(t *testing.T, _, web string) {
			_ = page(t, web, "eve").CloseNow()
		}},
		"page, after a frame": {serveFlags{lesson: "13"}, func(t *testing.T, _, web string) {
			ws := page(t, web, "eve")
			read(t, ws)
			_ = ws.CloseNow()
		}},
		"page, amid keys": {serveFlags{lesson: "1"}, func(t *testing.T, _, web string) {
			ws := page(t, web, "eve")
			for range 20 {
				if err := ws.Write(t.Context(), websocket.MessageBinary, []byte("?\x1bj\x1b[200~x")); err != nil {
					t.Fatal(err)
				}
			}
			_ = ws.CloseNow()
		}},
		"page, amid a what-if": {serveFlags{recording: "lively-nopop"}, func(t *testing.T, _, web string) {
			ws := page(t, web, "eve")
			if err := ws.Write(t.Context(), websocket.MessageBinary, []byte("ws")); err != nil {
				t.Fatal(err)
			}
			read(t, ws)
			_ = ws.CloseNow()
		}},
		"kiosk, at once": {serveFlags{play: true, web: webFlags{kiosk: true}}, func(t *testing.T, _, web string) {
			_ = page(t, web, "").CloseNow()
		}},
		"SSH, at once": {serveFlags{lesson: "1"}, func(t *testing.T, address, _ string) {
			client, err := ssh.Dial("tcp", address, &ssh.ClientConfig{
				User: "eve", HostKeyCallback: ssh.InsecureIgnoreHostKey(),
				Auth: []ssh.AuthMethod{ssh.KeyboardInteractive(func(_, _ string, q []string, _ []bool) ([]string, error) {
					return slices.Repeat([]string{"monday-room"}, len(q)), nil
				})},
			})
			if err != nil {
				t.Fatal(err)
			}
			session, err := client.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			if err := session.RequestPty("xterm", 10, 40, nil); err != nil {
				t.Fatal(err)
			}
			if err := session.Shell(); err != nil {
				t.Fatal(err)
			}
			_ = client.Close()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			address, web := openRoom(t, c.shown, io.Discard)
			leak.Check(t, 10, func(int) {
				for range 5 {
					c.visit(t, address, web)
				}
			})
		})
	}
}
