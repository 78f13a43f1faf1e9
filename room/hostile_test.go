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

// Ten wrong codes, and whoever knows the right one notices nothing of it.
func TestAWrongCodeTenTimes(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.WrongCodes = 20 })
	ada := s.comesIn("ada", code)
	for range 10 {
		if c, err := s.dial("eve", "saturday-room"); err == nil {
			_ = c.Close()
			t.Fatal("a wrong code opens the door")
		}
		ada.types("x")
	}
	ada.sees("xxxxxxxxxx")
	s.comesIn("bob", code).sees("notebook of bob")
	s.says(`msg="wrong room code" from=127.0.0.1 name=eve`)
	if n := strings.Count(s.log.String(), "wrong room code"); n < 10 {
		t.Errorf("%d wrong codes are logged, not all", n)
	}
	if strings.Contains(s.log.String(), "saturday") {
		t.Error("the log says what was typed")
	}
}

// Wrong codes are answered ever later, the right one at once.
func TestGuessingIsSlow(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.WrongCodes = 0.5 })
	began := time.Now()
	for range 4 { // three are free
		_, _ = s.dial("eve", "saturday-room")
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("four wrong codes took %s", took)
	}
	s.comesIn("bob", code).sees("notebook of bob")
}

func TestAKeyInPlaceOfACode(t *testing.T) {
	mine, tinas, other := hostKey(t), hostKey(t), hostKey(t)
	s := open(t, func(c *room.Config) {
		c.Access = room.Access{Keys: []ssh.PublicKey{mine.PublicKey()}, TeacherKeys: []ssh.PublicKey{tinas.PublicKey()}}
	})
	with := func(key ssh.Signer) error {
		c, err := ssh.Dial("tcp", s.address, &ssh.ClientConfig{
			User: "ada", HostKeyCallback: ssh.InsecureIgnoreHostKey(), Auth: []ssh.AuthMethod{ssh.PublicKeys(key)},
		})
		if err == nil {
			err = c.Close()
		}
		return err
	}
	if err := with(mine); err != nil {
		t.Error(err)
	}
	if err := with(tinas); err != nil {
		t.Error(err)
	}
	if with(other) == nil {
		t.Error("a key that nobody knows opens the door")
	}
	if c, err := s.dial("ada", ""); err == nil {
		t.Error("no code opens the door")
		_ = c.Close()
	}
}

func TestKeysFromAFile(t *testing.T) {
	line := string(ssh.MarshalAuthorizedKey(hostKey(t).PublicKey()))
	if keys, err := room.ParseKeys("class.pub", []byte("# the class\n\n"+line+line)); err != nil || len(keys) != 2 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	for text, says := range map[string]string{
		line + "nonsense":               "class.pub:2: this is no public key",
		`command="/bin/sh" ` + line:     "class.pub:1: the room knows no options of keys",
		"# nobody\n":                    "class.pub holds no public key",
		strings.Repeat("\x00\xff", 999): "class.pub:1: this is no public key",
	} {
		if _, err := room.ParseKeys("class.pub", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

// Of all that SSH can do, one terminal a connection is served.
func TestNothingButAScreenIsServed(t *testing.T) {
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
		t.Error("a command is run")
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
			t.Errorf("%s is answered with %t, %v", name, ok, err)
		}
	}
	for _, kind := range []string{"direct-tcpip", "session", "forwarded-tcpip", "direct-streamlocal@openssh.com", "x11", "auth-agent@openssh.com"} {
		if channel, _, err := client.OpenChannel(kind, ssh.Marshal(struct {
			Host string
			Port uint32
			From string
			At   uint32
		}{"127.0.0.1", 22, "", 0})); err == nil {
			t.Errorf("a channel %s is opened", kind)
			_ = channel.Close()
		}
	}
	for _, request := range []string{"tcpip-forward", "streamlocal-forward@openssh.com", "no-such"} {
		if ok, _, err := client.SendRequest(request, true, nil); ok || err != nil {
			t.Errorf("%s is answered with %t, %v", request, ok, err)
		}
	}
	s.says("request exec", "request subsystem", "channel direct-tcpip", "request tcpip-forward")
	if err := session.Shell(); err != nil { // after all, but without a terminal
		t.Fatal(err)
	}
	if err := session.Wait(); err == nil {
		t.Error("a screen is shown without a terminal")
	}
}

// What a model would do to the machine that it runs on does not happen, and its mistakes are its visitor's alone.
func TestAScreenDoesNothingToTheMachine(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	s := open(t, func(c *room.Config) {
		c.Open = func(v *room.Visitor) (tea.Model, error) {
			switch v.Name() {
			case "late":
				return nil, errors.New("this lesson ends before it begins")
			case "broken":
				panic("a mistake before the lesson")
			}
			return &notebook{visitor: v, run: made}, nil
		}
	})
	ada, bob := s.comesIn("ada", code), s.comesIn("bob", code)
	bob.sees("notebook of bob")
	ada.types("ZEw").sees("w") // goes on after being asked to suspend and to run a program
	if _, err := os.Stat(made); err == nil {
		t.Error("a program was run")
	}
	ada.types("P").sees("Sorry: schedq made a mistake")
	_ = ada.isOut()
	s.comesIn("late", code).sees("Sorry: this lesson ends before it begins.")
	s.comesIn("broken", code).sees("Sorry: schedq made a mistake")
	s.says("a mistake before the lesson")
	bob.types("ok").sees("ok")
}

// Whatever clients do, the room goes on and nobody else notices.
func TestHostileClients(t *testing.T) {
	s := open(t, func(c *room.Config) {
		c.Limits.Stall, c.Limits.Grace, c.Limits.Typed, c.Limits.Input = time.Second, 4*time.Second, 128<<10, 256<<10
	})
	bystander := s.comesIn("ada", code)
	bystander.sees("notebook of ada")
	noise := rand.NewChaCha8([32]byte{1})

	for name, attack := range map[string]func(*testing.T, *school){
		"noise in place of a handshake": func(t *testing.T, s *school) {
			for _, begins := range []string{"", "SSH-2.0-eve\r\n", "GET / HTTP/1.1\r\n\r\n", strings.Repeat("A", 1<<16)} {
				c := s.plain(t)
				garbage := make([]byte, 64<<10)
				_, _ = noise.Read(garbage)
				_, _ = c.Write(append([]byte(begins), garbage...))
				hungUp(t, c)
			}
		},
		"a connection that says nothing": func(t *testing.T, s *school) {
			hungUp(t, s.plain(t))
			s.says("not let in")
		},
		"a connection that asks for nothing": func(t *testing.T, s *school) {
			c, err := s.dial("eve", code)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Wait() // which is until the room closes it
		},
		"sizes": func(t *testing.T, s *school) {
			eve := s.comesIn("eve", code)
			for i := range 2000 {
				_ = eve.session.WindowChange(i%300, i*7%500)
			}
			eve.resize(300, 100)
			_ = eve.session.WindowChange(1<<31, 1<<31)
			_ = eve.session.WindowChange(0, 0)
			eve.sees("300×99") // the most there is
			eve.resize(80, 24)
			_ = eve.session.WindowChange(24, 80)
			eve.sees("80×23")
		},
		"noise for keys": func(t *testing.T, s *school) {
			eve := s.comesIn("eve", code)
			garbage := make([]byte, 64<<10)
			for range 8 { // more than the room takes
				_, _ = noise.Read(garbage)
				if _, err := eve.keyboard.Write(bytes.ReplaceAll(garbage, []byte("Q"), nil)); err != nil {
					break
				}
			}
			_ = eve.isOut()
		},
		"a paste without an end": func(t *testing.T, s *school) {
			eve := s.comesIn("eve", code)
			_, _ = io.WriteString(eve.keyboard, "\x1b[200~"+strings.Repeat("x", 512<<10))
			eve.sees("more than the room takes")
		},
		"hanging up in the middle": func(t *testing.T, s *school) {
			eve := s.comesIn("eve", code)
			eve.types("1\x1b[")
			_ = eve.client.Close()
			_ = eve.isOut()
		},
		"names": func(t *testing.T, s *school) {
			eve := s.comesIn("\x1b]0;owned\x07\u202e../../etc/passwd\n"+strings.Repeat("e", 999), code)
			eve.sees("notebook of 0owned....etcpas")
		},
	} {
		t.Run(name, func(t *testing.T) { attack(t, s.in(t)) })
		bystander.types("+").sees("+")
		bystander.types("\x7f")
	}
}

// A client that reads nothing is left after a while.
func TestAClientThatNeverReads(t *testing.T) {
	s := open(t, func(c *room.Config) {
		c.Limits.Stall = 500 * time.Millisecond
		c.Open = func(v *room.Visitor) (tea.Model, error) {
			if v.Name() == "eve" {
				return torrent{}, nil
			}
			return &notebook{visitor: v}, nil
		}
	})
	bystander := s.comesIn("ada", code)
	client, err := s.dial("eve", code)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	channel, requests, err := client.OpenChannel("session", nil) // of which nothing is read: its window fills up
	if err != nil {
		t.Fatal(err)
	}
	go ssh.DiscardRequests(requests)
	terminal := ssh.Marshal(struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}{"xterm", 300, 100, 0, 0, ""})
	if ok, err := channel.SendRequest("pty-req", true, terminal); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := channel.SendRequest("shell", true, nil); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.says(`msg=left name=eve`, "its screen was not read")
	bystander.types("fine").sees("fine")
}

// A client that is gone without a word does not keep its seat.
func TestAClientThatDoesNotAnswer(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Ping, c.Limits.Stall = 50*time.Millisecond, 2*time.Second })
	bystander := s.comesIn("ada", code)
	conn, _, requests, err := ssh.NewClientConn(s.plain(t), s.address, s.as("eve", code))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = requests // are not answered
	_ = conn.Wait()
	s.says(`msg="does not answer" from=127.0.0.1 name=eve`)
	bystander.types("fine").sees("fine") // answers, as every client does
}

// torrent is a screen on which more and more is written.
type torrent struct{}

func (torrent) Init() tea.Cmd { return tea.Raw(strings.Repeat("drop", 64<<10)) }

func (torrent) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.RawMsg); ok {
		return torrent{}, tea.Tick(20*time.Millisecond, func(time.Time) tea.Msg { return msg })
	}
	return torrent{}, nil
}

func (torrent) View() tea.View { return tea.NewView("") }

// plain connects without SSH.
func (s *school) plain(t *testing.T) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hungUp waits until the room closes the connection.
func hungUp(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the room does not hang up")
	}
	_ = c.Close()
}
