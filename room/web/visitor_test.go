package web_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/coder/websocket"
	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/room/web"
)

const (
	code        = "monday-room"
	teacherCode = "teach-4-them"
)

// timeout is how long a test waits for an expected state.
const timeout = 30 * time.Second

// testRoom is a room with a page on the loopback interface.
type testRoom struct {
	t       *testing.T
	address string
	log     *logBuffer
	close   func()
}

// open serves a room. change may alter its configuration.
func open(t *testing.T, page web.Config, change func(*room.Config)) *testRoom {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	s := &testRoom{t: t, log: &logBuffer{}}
	config := room.Config{
		HostKey: key, Access: room.Access{Code: code, TeacherCode: teacherCode}, Limits: room.DefaultLimits(),
		Open: func(v *room.Visitor) (tea.Model, error) { return &notebook{name: v.Name()}, nil },
		Log:  slog.New(slog.NewTextHandler(s.log, nil)),
	}
	config.Limits.WrongCodeRate = 100
	if change != nil {
		change(&config)
	}
	r, err := room.New(config)
	if err != nil {
		t.Fatal(err)
	}
	site, err := web.New(page)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	s.close = cancel
	closed := make(chan error, 1)
	go func() { closed <- r.Serve(ctx, room.Listener{Listener: l, Handler: site.ServeConn}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
	return s
}

// logBuffer holds the room's log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// logs waits until the log contains all texts.
func (s *testRoom) logs(texts ...string) {
	s.t.Helper()
	for deadline := time.Now().Add(timeout); ; time.Sleep(5 * time.Millisecond) {
		missing := ""
		for _, text := range texts {
			if !strings.Contains(s.log.String(), text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the log does not contain %q:\n%s", missing, s.log)
		}
	}
}

// notebook is a model that shows what its visitor types. Q ends it.
type notebook struct {
	name, typed   string
	width, height int
	moved         int
}

func (n *notebook) Init() tea.Cmd { return nil }

func (n *notebook) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if n.width > 0 && (n.width != msg.Width || n.height != msg.Height) {
			n.moved += 10 // so that the renderer rewrites the line instead of single cells
		}
		n.width, n.height = msg.Width, msg.Height
	case tea.PasteMsg:
		n.typed += msg.Content
	case tea.KeyPressMsg:
		if msg.String() == "Q" {
			return n, tea.Quit
		}
		n.typed += msg.String()
	}
	return n, nil
}

func (n *notebook) View() tea.View {
	return tea.NewView(fmt.Sprintf("This is the notebook of %s.\n%*s%d×%d\n%s", n.name, n.moved, "", n.width, n.height, n.typed))
}

// dial opens the WebSocket of the page.
func (s *testRoom) dial() *websocket.Conn {
	s.t.Helper()
	ws, err := s.dialFrom("http://" + s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

func (s *testRoom) dialFrom(origin string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), timeout)
	defer cancel()
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	ws, _, err := websocket.Dial(ctx, "ws://"+s.address+"/room", &websocket.DialOptions{HTTPHeader: header})
	return ws, err
}

// object is a message or reply.
type object map[string]any

// visitor is a client of the page.
type visitor struct {
	t     *testing.T
	ws    *websocket.Conn
	login object // the reply to the login
	mu    sync.Mutex
	shown bytes.Buffer
	wrote chan struct{}
	ended chan error
}

// sends sends a message.
func (v *visitor) sends(m object) {
	v.t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		v.t.Fatal(err)
	}
	if err := v.ws.Write(v.t.Context(), websocket.MessageText, text); err != nil {
		v.t.Fatal(err)
	}
}

// reply waits for a reply.
func (v *visitor) reply() object {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), timeout)
	defer cancel()
	kind, data, err := v.ws.Read(ctx)
	var r object
	if err != nil || kind != websocket.MessageText || json.Unmarshal(data, &r) != nil {
		v.t.Fatalf("%v %q, %v", kind, data, err)
	}
	return r
}

// join logs in with m.
func (s *testRoom) join(m object) *visitor {
	s.t.Helper()
	v := &visitor{t: s.t, ws: s.dial(), wrote: make(chan struct{}, 1), ended: make(chan error, 1)}
	v.sends(m)
	if v.login = v.reply(); v.login["is"] != "in" {
		s.t.Fatalf("the reply to %v is %v", m, v.login)
	}
	go func() {
		for {
			_, data, err := v.ws.Read(context.Background())
			v.mu.Lock()
			v.shown.Write(data)
			v.mu.Unlock()
			select {
			case v.wrote <- struct{}{}:
			default:
			}
			if err != nil {
				v.ended <- err
				return
			}
		}
	}()
	return v
}

// visitor logs in with a name and the room's code, with a terminal of 80 by 24.
func (s *testRoom) visitor(name string) *visitor {
	s.t.Helper()
	return s.join(object{"name": name, "code": code, "columns": 80, "rows": 24})
}

// pastes sends text as a paste, which the model shows in one update.
func (v *visitor) pastes(text string) *visitor { return v.types("\x1b[200~" + text + "\x1b[201~") }

// types sends input.
func (v *visitor) types(text string) *visitor {
	v.t.Helper()
	if err := v.ws.Write(v.t.Context(), websocket.MessageBinary, []byte(text)); err != nil {
		v.t.Fatal(err)
	}
	return v
}

// sees waits until the output contains text.
func (v *visitor) sees(text string) *visitor {
	v.t.Helper()
	deadline := time.After(timeout)
	for {
		v.mu.Lock()
		shown := v.shown.String()
		v.mu.Unlock()
		if strings.Contains(shown, text) {
			return v
		}
		select {
		case <-v.wrote:
		case <-deadline:
			v.t.Fatalf("the output does not contain %q: %q", text, shown)
		}
	}
}

// waitEnd waits until the connection is closed, and returns its status.
func (v *visitor) waitEnd() websocket.StatusCode {
	v.t.Helper()
	select {
	case err := <-v.ended:
		return websocket.CloseStatus(err)
	case <-time.After(timeout):
		v.t.Fatal("the session does not end")
	}
	return 0
}
