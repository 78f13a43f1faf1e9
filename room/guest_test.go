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
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
)

// The codes of the rooms in these tests.
const (
	code        = "monday-room"
	teacherCode = "teach-4-them"
)

// school is a room that is open on the loopback interface.
type school struct {
	t       *testing.T
	address string
	key     ssh.Signer // that guests without a code come with, or nil
	log     *journal
	close   func()
	closed  chan error
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// open opens a room. change may alter its settings.
func open(t *testing.T, change func(*room.Config)) *school {
	t.Helper()
	s := &school{t: t, log: &journal{}, closed: make(chan error, 1)}
	config := room.Config{
		HostKey: hostKey(t), Access: room.Access{Code: code, TeacherCode: teacherCode}, Limits: room.DefaultLimits(),
		Open: func(v *room.Visitor) (tea.Model, error) { return &notebook{visitor: v}, nil },
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	s.close = cancel
	go func() { s.closed <- r.Serve(ctx, room.Door{Listener: l}) }()
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

// in is the same room for a subtest.
func (s *school) in(t *testing.T) *school {
	in := *s
	in.t = t
	return &in
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
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		missing := ""
		for _, text := range texts {
			if !strings.Contains(s.log.String(), text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("the log does not say %q:\n%s", missing, s.log)
		}
	}
}

// notebook is a screen that shows what its visitor types. Some keys do more.
type notebook struct {
	visitor       *room.Visitor
	typed         string
	width, height int
	run           string // the command of the key E
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
			n.visitor.At("Backoff, step 4")
			n.visitor.Predicted(room.Prediction{
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
			panic("a mistake in a lesson")
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

// guest is somebody with an SSH client and a terminal.
type guest struct {
	t        *testing.T
	client   *ssh.Client
	session  *ssh.Session
	keyboard io.Writer

	mu      sync.Mutex
	screen  *vt.Emulator
	wrote   chan struct{}
	gone    chan struct{} // the session is over
	outcome error
}

// as is a client's settings for a name and a code.
func (s *school) as(name, code string) *ssh.ClientConfig {
	if s.key != nil && code == "" {
		return &ssh.ClientConfig{User: name, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: patience, Auth: []ssh.AuthMethod{ssh.PublicKeys(s.key)}}
	}
	return &ssh.ClientConfig{
		User: name, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: patience,
		Auth: []ssh.AuthMethod{ssh.KeyboardInteractive(func(_, _ string, questions []string, _ []bool) ([]string, error) {
			answers := make([]string, len(questions))
			for i := range questions {
				answers[i] = code
			}
			return answers, nil
		})},
	}
}

// dial connects with a code, without a terminal.
func (s *school) dial(name, code string) (*ssh.Client, error) {
	return ssh.Dial("tcp", s.address, s.as(name, code))
}

// comesIn is somebody who comes in with a terminal of 80 by 24. When it returns they have a seat, or were turned away:
// who is called in after them comes after them.
func (s *school) comesIn(name, code string) *guest {
	s.t.Helper()
	client, err := s.dial(name, code)
	if err != nil {
		s.t.Fatalf("%s can't come in: %v", name, err)
	}
	g := &guest{t: s.t, client: client, screen: vt.NewEmulator(80, 24), wrote: make(chan struct{}, 1), gone: make(chan struct{})}
	go func() { _, _ = io.Copy(io.Discard, g.screen) }() // what a terminal answers, nobody needs
	g.session, err = client.NewSession()
	if err != nil {
		s.t.Fatal(err)
	}
	output, err := g.session.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if g.keyboard, err = g.session.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	if err := g.session.RequestPty("xterm-256color", 24, 80, nil); err != nil {
		s.t.Fatal(err)
	}
	if err := g.session.Shell(); err != nil {
		s.t.Fatal(err)
	}
	go g.look(output)
	s.t.Cleanup(func() {
		_ = client.Close()
		<-g.gone
		_ = g.screen.InputPipe().(io.Closer).Close()
	})
	select {
	case <-g.wrote:
	case <-g.gone:
	case <-time.After(patience):
		s.t.Fatalf("%s is shown nothing", name)
	}
	return g
}

// look shows what comes on the terminal.
func (g *guest) look(output io.Reader) {
	defer close(g.gone)
	buffer := make([]byte, 32<<10)
	for {
		n, err := output.Read(buffer)
		g.mu.Lock()
		_, _ = g.screen.Write(buffer[:n])
		g.mu.Unlock()
		select {
		case g.wrote <- struct{}{}:
		default:
		}
		if err != nil {
			g.outcome = g.session.Wait()
			return
		}
	}
}

func (g *guest) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	for y := range g.screen.Height() {
		for x := range g.screen.Width() {
			if c := g.screen.CellAt(x, y); c != nil && c.Width > 0 {
				b.WriteString(c.Content)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// resize makes the terminal another size, and tells nobody.
func (g *guest) resize(width, height int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.screen.Resize(width, height)
}

// types presses keys.
func (g *guest) types(keys string) *guest {
	g.t.Helper()
	if _, err := io.WriteString(g.keyboard, keys); err != nil {
		g.t.Fatalf("typing %q: %v", keys, err)
	}
	return g
}

// sees waits until all texts are on the screen at once.
func (g *guest) sees(texts ...string) *guest {
	g.t.Helper()
	g.until(fmt.Sprintf("%q", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
	return g
}

func (g *guest) until(what string, is func(screen string) bool) {
	g.t.Helper()
	deadline := time.After(patience)
	over := false
	for {
		screen := g.text()
		if is(screen) {
			return
		}
		if over {
			g.t.Fatalf("the session is over without %s on the screen:\n%s", what, screen)
		}
		select {
		case <-g.wrote:
		case <-g.gone:
			over = true
		case <-deadline:
			g.t.Fatalf("%s is not on the screen:\n%s", what, screen)
		}
	}
}

// isOut waits until the guest was sent out, or has left.
func (g *guest) isOut() error {
	g.t.Helper()
	select {
	case <-g.gone:
		return g.outcome
	case <-time.After(patience):
		g.t.Fatalf("the session goes on:\n%s", g.text())
		return nil
	}
}
