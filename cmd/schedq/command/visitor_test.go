package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
)

// openRoom opens a room on the loopback interface, as schedq serve --web does, and returns the
// addresses for SSH and for browsers.
func openRoom(t testing.TB, f serveFlags, log io.Writer) (address, page string) {
	t.Helper()
	f.code, f.teacherCode, f.memory = "monday-room", "teach-4-them", "4Gi"
	f.sessions, f.idle = 60, time.Hour
	f.hostKey = filepath.Join(t.TempDir(), "hostkey")
	if f.lesson == "" {
		f.lesson = "1"
	}
	config, err := f.config(context.Background(), log)
	if err != nil {
		t.Fatal(err)
	}
	config.Limits.KeyRate, config.Limits.InputRate = 1e6, 1<<20 // tests type fast
	r, err := room.New(config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&webFlags{address: "127.0.0.1:0", kiosk: f.web.kiosk}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	closed := make(chan error, 1)
	go func() { closed <- r.Serve(ctx, room.Listener{Listener: l}, p.listener()) }()
	t.Cleanup(func() {
		cancel()
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), p.Addr().String()
}

// visitor is a client over SSH or in a browser, with a screen of 80 by 24.
type visitor struct {
	client io.Closer
	keys   io.Writer
	mu     sync.Mutex
	all    bytes.Buffer // the screen's output, if kept
	kept   bool
	wrote  chan struct{} // receives after output
}

// visit enters the room over SSH.
func visit(t testing.TB, address, name string, keep bool) *visitor {
	t.Helper()
	client, err := ssh.Dial("tcp", address, &ssh.ClientConfig{
		User: name, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
		Auth: []ssh.AuthMethod{ssh.KeyboardInteractive(func(_, _ string, q []string, _ []bool) ([]string, error) {
			return slices.Repeat([]string{"monday-room"}, len(q)), nil
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{client: client, kept: keep, wrote: make(chan struct{}, 1)}
	session.Stdout = v
	if v.keys, err = session.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := session.RequestPty("xterm-256color", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	return v
}

// visitPage enters the room like a browser.
func visitPage(t testing.TB, address, name string, keep bool) *visitor {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws://"+address+"/room", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://" + address}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	hello := fmt.Appendf(nil, `{"name":%q,"code":"monday-room","columns":80,"rows":24}`, name)
	if err := ws.Write(t.Context(), websocket.MessageText, hello); err != nil {
		t.Fatal(err)
	}
	if _, answer, err := ws.Read(t.Context()); err != nil || !bytes.Contains(answer, []byte(`"is":"in"`)) {
		t.Fatalf("%s, %v", answer, err)
	}
	p := websocket.NetConn(t.Context(), ws, websocket.MessageBinary)
	v := &visitor{client: p, keys: p, kept: keep, wrote: make(chan struct{}, 1)}
	go func() { _, _ = io.Copy(v, p) }()
	return v
}

// Write implements io.Writer for the screen's output.
func (v *visitor) Write(p []byte) (int, error) {
	v.mu.Lock()
	if v.kept {
		v.all.Write(p)
	}
	v.mu.Unlock()
	select {
	case v.wrote <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (v *visitor) press(keys string) { _, _ = io.WriteString(v.keys, keys) }

// waitForOutput waits for output.
func (v *visitor) waitForOutput(t testing.TB) {
	t.Helper()
	select {
	case <-v.wrote:
	case <-time.After(30 * time.Second):
		v.mu.Lock()
		defer v.mu.Unlock()
		t.Fatalf("no output after %q", v.all.Bytes()[max(0, v.all.Len()-2000):])
	}
}

// waitFor waits until the output contains text.
func (v *visitor) waitFor(t testing.TB, text string) {
	t.Helper()
	for {
		v.mu.Lock()
		seen := bytes.Contains(v.all.Bytes(), []byte(text))
		v.mu.Unlock()
		if seen {
			return
		}
		v.waitForOutput(t)
	}
}
