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

// The codes of the rooms in these tests.
const (
	code        = "monday-room"
	teacherCode = "teach-4-them"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// school is a room with a page on the loopback interface.
type school struct {
	t       *testing.T
	address string
	log     *journal
	close   func()
}

// open opens a room. change may alter its settings.
func open(t *testing.T, page web.Config, change func(*room.Config)) *school {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	s := &school{t: t, log: &journal{}}
	config := room.Config{
		HostKey: key, Access: room.Access{Code: code, TeacherCode: teacherCode}, Limits: room.DefaultLimits(),
		Open: func(v *room.Visitor) (tea.Model, error) { return &notebook{name: v.Name()}, nil },
		Log:  slog.New(slog.NewTextHandler(s.log, nil)),
	}
	config.Limits.WrongCodes = 100
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
	go func() { closed <- r.Serve(ctx, room.Door{Listener: l, Protocol: site.Welcome}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
	return s
}

// journal is the room's log.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// says waits until the log says all of it.
func (s *school) says(texts ...string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
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
			s.t.Fatalf("the log does not say %q:\n%s", missing, s.log)
		}
	}
}

// notebook is a screen that shows what its visitor types. Q ends it.
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
			n.moved += 10 // so that all of the new size is written, and not what differs
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

// dial opens a WebSocket as the page does.
func (s *school) dial() *websocket.Conn {
	s.t.Helper()
	ws, err := s.dialFrom("http://" + s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

func (s *school) dialFrom(origin string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	ws, _, err := websocket.Dial(ctx, "ws://"+s.address+"/room", &websocket.DialOptions{HTTPHeader: header})
	return ws, err
}

// words are what a page says and is answered.
type words map[string]any

// visitor is somebody with a page.
type visitor struct {
	t     *testing.T
	ws    *websocket.Conn
	in    words // the answer that let them in
	mu    sync.Mutex
	shown bytes.Buffer
	wrote chan struct{}
	over  chan error // how it ended
}

// says sends what a page says.
func (v *visitor) says(w words) {
	v.t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		v.t.Fatal(err)
	}
	if err := v.ws.Write(v.t.Context(), websocket.MessageText, text); err != nil {
		v.t.Fatal(err)
	}
}

// answered waits for an answer of the room's before anything is shown.
func (v *visitor) answered() words {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), patience)
	defer cancel()
	kind, data, err := v.ws.Read(ctx)
	var w words
	if err != nil || kind != websocket.MessageText || json.Unmarshal(data, &w) != nil {
		v.t.Fatalf("%v %q, %v", kind, data, err)
	}
	return w
}

// comes lets in who says w.
func (s *school) comes(w words) *visitor {
	s.t.Helper()
	v := &visitor{t: s.t, ws: s.dial(), wrote: make(chan struct{}, 1), over: make(chan error, 1)}
	v.says(w)
	if v.in = v.answered(); v.in["is"] != "in" {
		s.t.Fatalf("%v is answered with %v", w, v.in)
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
				v.over <- err
				return
			}
		}
	}()
	return v
}

// visitor comes by a name and the room's code, with a terminal of 80 by 24.
func (s *school) visitor(name string) *visitor {
	s.t.Helper()
	return s.comes(words{"name": name, "code": code, "columns": 80, "rows": 24})
}

// pastes pastes text, which is then shown in one piece, and waits for nothing.
func (v *visitor) pastes(text string) *visitor { return v.types("\x1b[200~" + text + "\x1b[201~") }

// types types text, and waits for nothing.
func (v *visitor) types(text string) *visitor {
	v.t.Helper()
	if err := v.ws.Write(v.t.Context(), websocket.MessageBinary, []byte(text)); err != nil {
		v.t.Fatal(err)
	}
	return v
}

// sees waits until text was shown.
func (v *visitor) sees(text string) *visitor {
	v.t.Helper()
	late := time.After(patience)
	for {
		v.mu.Lock()
		shown := v.shown.String()
		v.mu.Unlock()
		if strings.Contains(shown, text) {
			return v
		}
		select {
		case <-v.wrote:
		case <-late:
			v.t.Fatalf("%q is not shown, but %q", text, shown)
		}
	}
}

// ends waits until it is over, and returns how the room hung up.
func (v *visitor) ends() websocket.StatusCode {
	v.t.Helper()
	select {
	case err := <-v.over:
		return websocket.CloseStatus(err)
	case <-time.After(patience):
		v.t.Fatal("it does not end")
	}
	return 0
}
