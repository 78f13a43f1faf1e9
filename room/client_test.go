package room_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
)

const (
	code        = "monday-room"
	teacherCode = "teach-4-them"
)

// testRoom is a room on the loopback interface.
type testRoom struct {
	t       *testing.T
	address string
	key     ssh.Signer // of clients without a code; may be nil
	log     *logBuffer
	close   func()
	closed  chan error
}

// timeout is how long a test waits for an expected state.
const timeout = 20 * time.Second

// open serves a room. change may alter its configuration.
func open(t *testing.T, change func(*room.Config)) *testRoom {
	t.Helper()
	s := &testRoom{t: t, log: &logBuffer{}, closed: make(chan error, 1)}
	config := room.Config{
		HostKey: hostKey(t), Access: room.Access{Code: code, TeacherCode: teacherCode}, Limits: room.DefaultLimits(),
		Open: func(v *room.Visitor) (tea.Model, error) { return &notebook{visitor: v}, nil },
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	s.close = cancel
	go func() { s.closed <- r.Serve(ctx, room.Listener{Listener: l}) }()
	t.Cleanup(cancel)
	return s
}

func hostKey(t *testing.T) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// in returns the same room for a subtest.
func (s *testRoom) in(t *testing.T) *testRoom {
	in := *s
	in.t = t
	return &in
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

// notebook is a model that shows what its visitor types. Some keys have other effects.
type notebook struct {
	visitor       *room.Visitor
	typed         string
	width, height int
	run           string // a file that the key E tries to create
	asking        bool
}

func (n *notebook) Init() tea.Cmd { return nil }

func (n *notebook) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		n.width, n.height = msg.Width, msg.Height
	case tea.PasteMsg:
		n.typed += msg.Content
	case tea.KeyPressMsg:
		switch key := msg.String(); key {
		case "1", "2", "3":
			n.visitor.SetPlace("Backoff, step 4")
			n.visitor.RecordPrediction(room.Prediction{
				Lesson: "Backoff", Step: "step 4", Question: "Which queue, and when?",
				Answers: []string{"activeQ", "backoffQ", "unschedulable"}, Answer: int(key[0] - '1'), Right: 1,
			})
		case "?":
			n.asking = !n.asking
		case "Z":
			return n, tea.Suspend
		case "E":
			return n, tea.ExecProcess(exec.Command("touch", n.run), nil)
		case "P":
			panic("a bug in a lesson")
		case "Q":
			return n, tea.Quit
		}
		n.typed += msg.String()
	}
	return n, nil
}

func (n *notebook) Asks() (asked room.Prediction, keys []string, open bool) {
	asked = room.Prediction{Lesson: "Backoff", Step: "step 5", Question: "For how long?", Answers: []string{"1 s", "2 s"}, Answer: -1, Right: 1}
	return asked, []string{"a", "b"}, n.asking
}

func (n *notebook) View() tea.View {
	return tea.NewView(fmt.Sprintf("This is the notebook of %s.\n%d×%d\n%s", n.visitor.Name(), n.width, n.height, n.typed))
}

// client is an SSH client with a terminal.
type client struct {
	t       *testing.T
	ssh     *ssh.Client
	session *ssh.Session
	input   io.Writer

	mu     sync.Mutex
	screen *vt.Emulator
	wrote  chan struct{}
	ended  chan struct{}
	err    error // of the ended session
}

// clientConfig returns an SSH configuration with a name and a code, or the room's key without a
// code.
func (s *testRoom) clientConfig(name, code string) *ssh.ClientConfig {
	if s.key != nil && code == "" {
		return &ssh.ClientConfig{User: name, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: timeout, Auth: []ssh.AuthMethod{ssh.PublicKeys(s.key)}}
	}
	return &ssh.ClientConfig{
		User: name, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: timeout,
		Auth: []ssh.AuthMethod{ssh.KeyboardInteractive(func(_, _ string, questions []string, _ []bool) ([]string, error) {
			answers := make([]string, len(questions))
			for i := range questions {
				answers[i] = code
			}
			return answers, nil
		})},
	}
}

// dial connects without a terminal.
func (s *testRoom) dial(name, code string) (*ssh.Client, error) {
	return ssh.Dial("tcp", s.address, s.clientConfig(name, code))
}

// join connects with a terminal of 80 by 24. It returns when the room has admitted or rejected the
// client, so clients join in the order of the calls.
func (s *testRoom) join(name, code string) *client {
	s.t.Helper()
	conn, err := s.dial(name, code)
	if err != nil {
		s.t.Fatalf("%s can't log in: %v", name, err)
	}
	return s.enter(conn, name)
}

// enter opens the session of an authenticated connection.
func (s *testRoom) enter(conn *ssh.Client, name string) *client {
	s.t.Helper()
	var err error
	c := &client{t: s.t, ssh: conn, screen: vt.NewEmulator(80, 24), wrote: make(chan struct{}, 1), ended: make(chan struct{})}
	go func() { _, _ = io.Copy(io.Discard, c.screen) }() // the terminal's replies
	c.session, err = conn.NewSession()
	if err != nil {
		s.t.Fatal(err)
	}
	output, err := c.session.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if c.input, err = c.session.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	if err := c.session.RequestPty("xterm-256color", 24, 80, nil); err != nil {
		s.t.Fatal(err)
	}
	if err := c.session.Shell(); err != nil {
		s.t.Fatal(err)
	}
	go c.readOutput(output)
	s.t.Cleanup(func() {
		_ = conn.Close()
		<-c.ended
		_ = c.screen.InputPipe().(io.Closer).Close()
	})
	select {
	case <-c.wrote:
	case <-c.ended:
	case <-time.After(timeout):
		s.t.Fatalf("%s sees nothing", name)
	}
	return c
}

func (c *client) readOutput(output io.Reader) {
	defer close(c.ended)
	buffer := make([]byte, 32<<10)
	for {
		n, err := output.Read(buffer)
		c.mu.Lock()
		_, _ = c.screen.Write(buffer[:n])
		c.mu.Unlock()
		select {
		case c.wrote <- struct{}{}:
		default:
		}
		if err != nil {
			c.err = c.session.Wait()
			return
		}
	}
}

// text returns the text on the screen.
func (c *client) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for y := range c.screen.Height() {
		for x := range c.screen.Width() {
			if cell := c.screen.CellAt(x, y); cell != nil && cell.Width > 0 {
				b.WriteString(cell.Content)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// resize resizes the terminal without telling the room.
func (c *client) resize(width, height int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.screen.Resize(width, height)
}

// types sends keys.
func (c *client) types(keys string) *client {
	c.t.Helper()
	if _, err := io.WriteString(c.input, keys); err != nil {
		c.t.Fatalf("typing %q: %v", keys, err)
	}
	return c
}

// sees waits until all texts are on the screen together.
func (c *client) sees(texts ...string) *client {
	c.t.Helper()
	deadline := time.After(timeout)
	ended := false
	for {
		screen := c.text()
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) }) {
			return c
		}
		if ended {
			c.t.Fatalf("the session ended without %q on the screen:\n%s", texts, screen)
		}
		select {
		case <-c.wrote:
		case <-c.ended:
			ended = true
		case <-deadline:
			c.t.Fatalf("%q is not on the screen:\n%s", texts, screen)
		}
	}
}

// waitEnd waits until the session has ended, and returns its error.
func (c *client) waitEnd() error {
	c.t.Helper()
	select {
	case <-c.ended:
		return c.err
	case <-time.After(timeout):
		c.t.Fatalf("the session does not end:\n%s", c.text())
		return nil
	}
}
