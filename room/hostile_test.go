package room_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
)

// TestWrongCodes: ten wrong codes don't affect a visitor in the room or a client with the right
// code.
func TestWrongCodes(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.WrongCodeRate = 20 })
	ada := s.join("ada", code)
	for range 10 {
		if c, err := s.dial("eve", "saturday-room"); err == nil {
			_ = c.Close()
			t.Fatal("a wrong code is accepted")
		}
		ada.types("x")
	}
	ada.sees("xxxxxxxxxx")
	s.join("bob", code).sees("notebook of bob")
	s.logs(`msg="wrong room code" from=127.0.0.1 name=eve`)
	if n := strings.Count(s.log.String(), "wrong room code"); n < 10 {
		t.Errorf("%d wrong codes are logged, want 10", n)
	}
	if strings.Contains(s.log.String(), "saturday") {
		t.Error("the log contains the typed code")
	}
}

func TestKeys(t *testing.T) {
	mine, tinas, other := hostKey(t), hostKey(t), hostKey(t)
	s := open(t, func(c *room.Config) {
		c.Access = room.Access{Keys: []ssh.PublicKey{mine.PublicKey()}, TeacherKeys: []ssh.PublicKey{tinas.PublicKey()}}
	})
	login := func(key ssh.Signer) error {
		c, err := ssh.Dial("tcp", s.address, &ssh.ClientConfig{
			User: "ada", HostKeyCallback: ssh.InsecureIgnoreHostKey(), Auth: []ssh.AuthMethod{ssh.PublicKeys(key)},
		})
		if err == nil {
			err = c.Close()
		}
		return err
	}
	if err := login(mine); err != nil {
		t.Error(err)
	}
	if err := login(tinas); err != nil {
		t.Error(err)
	}
	if login(other) == nil {
		t.Error("an unknown key is accepted")
	}
	if c, err := s.dial("ada", ""); err == nil {
		t.Error("an empty code is accepted")
		_ = c.Close()
	}
}

func TestParseKeys(t *testing.T) {
	line := string(ssh.MarshalAuthorizedKey(hostKey(t).PublicKey()))
	if keys, err := room.ParseKeys("class.pub", []byte("# the class\n\n"+line+line)); err != nil || len(keys) != 2 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	for text, want := range map[string]string{
		line + "nonsense":               "class.pub:2: invalid public key",
		`command="/bin/sh" ` + line:     "class.pub:1: key options are not supported",
		"# nobody\n":                    "class.pub contains no public key",
		strings.Repeat("\x00\xff", 999): "class.pub:1: invalid public key",
	} {
		if _, err := room.ParseKeys("class.pub", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

// TestOtherRequestsAreRefused: the room refuses every SSH request except those for one terminal.
func TestOtherRequestsAreRefused(t *testing.T) {
	s := open(t, nil)
	client, err := s.dial("eve", code)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Start("cat /etc/passwd"); err == nil {
		t.Error("a command was accepted")
	}
	for name, payload := range map[string][]byte{
		"exec":                       ssh.Marshal(struct{ Command string }{"sh"}),
		"subsystem":                  ssh.Marshal(struct{ Name string }{"sftp"}),
		"auth-agent-req@openssh.com": nil,
		"x11-req":                    ssh.Marshal(struct{ A string }{"x"}),
		"signal":                     ssh.Marshal(struct{ Name string }{"KILL"}),
		"env":                        ssh.Marshal(struct{ Name, Value string }{"KUBECONFIG", "/etc/shadow"}),
		"pty-req":                    []byte("\xff\xff\xff\xff"),
		"window-change":              nil,
		"shell-please":               nil,
	} {
		if ok, err := session.SendRequest(name, true, payload); ok || err != nil {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
	for _, kind := range []string{"direct-tcpip", "session", "forwarded-tcpip", "direct-streamlocal@openssh.com", "x11", "auth-agent@openssh.com"} {
		if channel, _, err := client.OpenChannel(kind, ssh.Marshal(struct {
			Host string
			Port uint32
			From string
			At   uint32
		}{"127.0.0.1", 22, "", 0})); err == nil {
			t.Errorf("channel %s was accepted", kind)
			_ = channel.Close()
		}
	}
	for _, request := range []string{"tcpip-forward", "streamlocal-forward@openssh.com", "no-such"} {
		if ok, _, err := client.SendRequest(request, true, nil); ok || err != nil {
			t.Errorf("%s: %t, %v", request, ok, err)
		}
	}
	s.logs("request exec", "request subsystem", "channel direct-tcpip", "request tcpip-forward")
	if err := session.Shell(); err != nil { // without a pty-req
		t.Fatal(err)
	}
	if err := session.Wait(); err == nil {
		t.Error("the session runs without a terminal")
	}
}

// TestModelIsContained: a model can't suspend the process or run programs, and its panic ends only
// its own session.
func TestModelIsContained(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	s := open(t, func(c *room.Config) {
		c.Open = func(v *room.Visitor) (tea.Model, error) {
			switch v.Name() {
			case "late":
				return nil, errors.New("this lesson is invalid")
			case "broken":
				panic("a bug in Open")
			}
			return &notebook{visitor: v, run: made}, nil
		}
	})
	ada, bob := s.join("ada", code), s.join("bob", code)
	bob.sees("notebook of bob")
	ada.types("ZEw").sees("w") // still running after tea.Suspend and tea.Exec
	if _, err := os.Stat(made); err == nil {
		t.Error("a program was executed")
	}
	ada.types("P").sees("Sorry: schedq crashed")
	_ = ada.waitEnd()
	s.join("late", code).sees("Sorry: this lesson is invalid.")
	s.join("broken", code).sees("Sorry: schedq crashed")
	s.logs("a bug in Open")
	bob.types("ok").sees("ok")
}

// TestHostileClients: hostile clients don't affect other visitors.
func TestHostileClients(t *testing.T) {
	s := open(t, func(c *room.Config) {
		c.Limits.StallTimeout, c.Limits.AuthTimeout, c.Limits.MaxInput, c.Limits.InputRate = time.Second, 4*time.Second, 128<<10, 256<<10
	})
	bystander := s.join("ada", code)
	bystander.sees("notebook of ada")
	noise := rand.NewChaCha8([32]byte{1})

	for name, attack := range map[string]func(*testing.T, *testRoom){
		"no SSH handshake": func(t *testing.T, s *testRoom) {
			for _, prefix := range []string{"", "SSH-2.0-eve\r\n", "GET / HTTP/1.1\r\n\r\n", strings.Repeat("A", 1<<16)} {
				c := s.dialTCP(t)
				garbage := make([]byte, 64<<10)
				_, _ = noise.Read(garbage)
				_, _ = c.Write(append([]byte(prefix), garbage...))
				waitClosed(t, c)
			}
		},
		"silent connection": func(t *testing.T, s *testRoom) {
			waitClosed(t, s.dialTCP(t))
			s.logs("login failed")
		},
		"no session": func(t *testing.T, s *testRoom) {
			c, err := s.dial("eve", code)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Wait() // until the room closes it
		},
		"window sizes": func(t *testing.T, s *testRoom) {
			eve := s.join("eve", code)
			for i := range 2000 {
				_ = eve.session.WindowChange(i%300, i*7%500)
			}
			eve.resize(300, 100)
			_ = eve.session.WindowChange(1<<31, 1<<31)
			_ = eve.session.WindowChange(0, 0)
			eve.sees("300×45") // the maximum, without the bar
			eve.resize(80, 24)
			_ = eve.session.WindowChange(24, 80)
			eve.sees("80×23")
		},
		"random input": func(t *testing.T, s *testRoom) {
			eve := s.join("eve", code)
			garbage := make([]byte, 64<<10)
			for range 8 { // more than MaxInput
				_, _ = noise.Read(garbage)
				if _, err := eve.input.Write(bytes.ReplaceAll(garbage, []byte("Q"), nil)); err != nil {
					break
				}
			}
			_ = eve.waitEnd()
		},
		"unterminated paste": func(t *testing.T, s *testRoom) {
			eve := s.join("eve", code)
			_, _ = io.WriteString(eve.input, "\x1b[200~"+strings.Repeat("x", 512<<10))
			eve.sees("You exceeded the room's input limit")
		},
		"disconnect inside an escape sequence": func(t *testing.T, s *testRoom) {
			eve := s.join("eve", code)
			eve.types("1\x1b[")
			_ = eve.ssh.Close()
			_ = eve.waitEnd()
		},
		"names": func(t *testing.T, s *testRoom) {
			eve := s.join("\x1b]0;owned\x07\u202e../../etc/passwd\n"+strings.Repeat("e", 999), code)
			eve.sees("notebook of 0owned....etcpas")
		},
	} {
		t.Run(name, func(t *testing.T) { attack(t, s.in(t)) })
		bystander.types("+").sees("+")
		bystander.types("\x7f")
	}
}

func TestClientThatNeverReads(t *testing.T) {
	s := open(t, func(c *room.Config) {
		c.Limits.StallTimeout = 500 * time.Millisecond
		c.Open = func(v *room.Visitor) (tea.Model, error) {
			if v.Name() == "eve" {
				return endlessOutput{}, nil
			}
			return &notebook{visitor: v}, nil
		}
	})
	bystander := s.join("ada", code)
	client, err := s.dial("eve", code)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	openShell(t, client, 300, 100) // the channel's window fills up
	s.logs(`msg=left name=eve`, "client stopped reading")
	bystander.types("fine").sees("fine")
}

// TestUnresponsiveClient: an unresponsive client is disconnected, and frees its seat.
func TestUnresponsiveClient(t *testing.T) {
	s := open(t, func(c *room.Config) {
		c.Limits.PingInterval, c.Limits.StallTimeout = 50*time.Millisecond, 2*time.Second
	})
	bystander := s.join("ada", code)
	conn, _, _, err := ssh.NewClientConn(s.dialTCP(t), s.address, s.clientConfig("eve", code))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.Wait() // its requests are not answered
	s.logs(`msg="client stopped responding" from=127.0.0.1 name=eve`)
	bystander.types("fine").sees("fine") // an ordinary client answers pings
}

// endlessOutput is a model that writes without end.
type endlessOutput struct{}

func (endlessOutput) Init() tea.Cmd { return tea.Raw(strings.Repeat("drop", 64<<10)) }

func (endlessOutput) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.RawMsg); ok {
		return endlessOutput{}, tea.Tick(20*time.Millisecond, func(time.Time) tea.Msg { return msg })
	}
	return endlessOutput{}, nil
}

func (endlessOutput) View() tea.View { return tea.NewView("") }

// openShell opens a session with a terminal by hand. Nothing reads its output.
func openShell(t *testing.T, conn ssh.Conn, columns, rows uint32) {
	t.Helper()
	channel, requests, err := conn.OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	go ssh.DiscardRequests(requests)
	terminal := ssh.Marshal(struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}{"xterm", columns, rows, 0, 0, ""})
	if ok, err := channel.SendRequest("pty-req", true, terminal); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := channel.SendRequest("shell", true, nil); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

// dialTCP connects without SSH.
func (s *testRoom) dialTCP(t *testing.T) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// waitClosed waits until the room closes the connection.
func waitClosed(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(timeout))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the room does not close the connection")
	}
	_ = c.Close()
}
