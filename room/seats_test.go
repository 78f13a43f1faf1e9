package room_test

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
)

// TestInactiveVisitorIsReplaced: in a full room, a newcomer replaces an inactive visitor, but not
// an active one.
func TestInactiveVisitorIsReplaced(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Sessions = 3 })
	ada, eve, mallory := s.join("ada", code), s.join("eve", code), s.join("mallory", code)
	eve.sees("notebook of eve")
	mallory.sees("notebook of mallory")
	ada.types("mine").sees("mine")
	bob := s.join("bob", code)
	bob.sees("notebook of bob").types("mine").sees("mine")
	eve.sees("The room is full and you were inactive: somebody else took your place.")
	cleo := s.join("cleo", code)
	cleo.sees("notebook of cleo").types("mine").sees("mine")
	mallory.sees("somebody else took your place")
	s.join("eve", code).sees("Sorry: the room is full, with 3 visitors")
	for _, c := range []*client{ada, bob, cleo} {
		c.types("!").sees("mine!")
	}
}

// TestSameNameIsReplacedFirst: a visitor with the same requested name is replaced first.
func TestSameNameIsReplacedFirst(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Sessions = 3 })
	ada, first, second := s.join("ada", code), s.join("eve", code), s.join("eve", code)
	ada.sees("notebook of ada")
	first.sees("notebook of eve")
	second.sees("notebook of eve-2")
	s.join("eve", code).sees("notebook of eve")
	first.sees("somebody else took your place")
	ada.types("here").sees("here")
}

func TestPerAddressLimit(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.PerAddress = 1 })
	ada := s.join("ada", code)
	ada.types("mine").sees("mine")
	s.join("bob", code).sees("Sorry: the room allows only 1 visitor from your address: try again later.")
	s.join("tina", teacherCode).sees("1 visitor")
}

func TestRemoveVisitor(t *testing.T) {
	s := open(t, nil)
	ada, eve, teacher := s.join("ada", code), s.join("eve", code), s.join("tina", teacherCode)
	ada.sees("notebook of ada")
	eve.sees("notebook of eve")
	teacher.sees("2 visitors").types(roomKey+"w").sees("People: 2 visitors", "▸   ada", "  eve")
	teacher.types("x").sees("Press x again to remove ada.").types("j").sees("▸   eve")
	if strings.Contains(teacher.text(), "again") {
		t.Error("another key does not cancel")
	}
	teacher.types("x").sees("Press x again to remove eve.").types("x").sees("eve is removed", "1 visitor")
	eve.sees("The teacher removed you.")
	s.join("eve", code).sees("Sorry: the teacher removed you: you can join again in 15 minutes.")
	s.logs(`msg=removed name=eve from=127.0.0.1 by=tina`)
	teacher.types("jx").sees("remove tina").types("x").sees("a teacher can't be removed")
	ada.types("here").sees("here")
}

func TestChangeCode(t *testing.T) {
	s := open(t, nil)
	ada, bob, teacher := s.join("ada", code), s.join("bob", code), s.join("tina", teacherCode)
	ada.sees("notebook of ada")
	bob.sees("notebook of bob")
	early, err := s.dial("eve", code)
	if err != nil {
		t.Fatal(err)
	}
	teacher.sees("2 visitors").types(roomKey+"f").sees("f stop sharing", "2 following").types("w").sees("People: ")
	teacher.types("c").sees("Press c again to replace the visitors' code.").types("c").sees("New visitors' code: ")
	changed := regexp.MustCompile(`code: ([a-z2-9]{4}-[a-z2-9]{4})\.`).FindStringSubmatch(teacher.text())
	if changed == nil {
		t.Fatalf("no code on the screen:\n%s", teacher.text())
	}
	if _, err := s.dial("eve", code); err == nil {
		t.Error("the old code is accepted")
	}
	s.enter(early, "eve").sees("Sorry: the room's code has changed: join again with the new one.")
	s.join("cleo", changed[1]).sees("notebook of tina") // follows
	bob.sees("notebook of tina")
	ada.types("\x1b").sees("notebook of ada").types("here").sees("here")
	if strings.Contains(bob.text(), changed[1]) || strings.Contains(s.log.String(), changed[1]) {
		t.Error("the code is shown to others or logged")
	}
	s.logs(`msg="room code changed" by=tina`)
}

func TestInvisibleAndRightToLeftNames(t *testing.T) {
	s := open(t, nil)
	for _, name := range []string{"\u3164\u3164", "a\u115fb", "\uffa0", "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627", "a\u0661"} {
		c := s.join(name, code)
		c.sees("Sorry: ", "use another name")
		_ = c.waitEnd()
	}
	s.join("漢字-Ωé", code).sees("notebook of 漢字-Ωé")
}

func TestLoggedReasons(t *testing.T) {
	s := open(t, nil)
	s.join("ada", code).sees("notebook of ada").types("Q")
	bob := s.join("bob", code).sees("notebook of bob")
	if err := bob.ssh.Close(); err != nil {
		t.Fatal(err)
	}
	s.logs("msg=left name=ada", `why=quit`, "msg=left name=bob", `why=disconnected`)
	if strings.Contains(s.log.String(), "nil") {
		t.Errorf("the log contains nil:\n%s", s.log)
	}
}

// TestNoSHA1: the room offers no algorithm with SHA-1, and rejects signatures with it.
func TestNoSHA1(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, func(c *room.Config) { c.HostKey, c.Access.Keys = mine, []ssh.PublicKey{mine.PublicKey()} })
	c := s.dialTCP(t)
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(timeout))
	if _, err := c.Write([]byte("SSH-2.0-test\r\n")); err != nil {
		t.Fatal(err)
	}
	var offers []byte
	for buffer := make([]byte, 4096); !strings.Contains(string(offers), "hmac-sha2-512"); {
		n, err := c.Read(buffer)
		if offers = append(offers, buffer[:n]...); err != nil {
			t.Fatalf("%q, %v", offers, err)
		}
	}
	if bad := regexp.MustCompile(`[a-z0-9-]*sha1[a-z0-9-]*|\bssh-rsa\b|\bssh-dss\b`).FindAllString(string(offers), -1); len(bad) > 0 {
		t.Errorf("the room offers %q", bad)
	}
	by := func(algorithm string) error {
		signer, err := ssh.NewSignerWithAlgorithms(mine.(ssh.AlgorithmSigner), []string{algorithm})
		if err != nil {
			t.Fatal(err)
		}
		client, err := ssh.Dial("tcp", s.address, &ssh.ClientConfig{
			User: "ada", HostKeyCallback: ssh.FixedHostKey(mine.PublicKey()), Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
		})
		if err == nil {
			err = client.Close()
		}
		return err
	}
	if err := by(ssh.KeyAlgoRSASHA256); err != nil {
		t.Error(err)
	}
	if err := by(ssh.KeyAlgoRSA); err == nil {
		t.Error("a signature with SHA-1 is accepted")
	}
}

// TestBannedKey: a removed visitor who used a key can't rejoin under another name.
func TestBannedKey(t *testing.T) {
	mine := hostKey(t)
	s := open(t, func(c *room.Config) { c.Access.Keys = []ssh.PublicKey{mine.PublicKey()} })
	s.key = mine
	teacher := s.join("tina", teacherCode)
	s.join("eve", "").sees("notebook of eve")
	teacher.sees("1 visitor").types(roomKey + "wj").sees("▸   eve").types("xx").sees("eve is removed")
	again := s.join("mallory", "")
	again.sees("Sorry: the teacher removed you")
	var exit *ssh.ExitError
	if err := again.waitEnd(); !errors.As(err, &exit) || exit.ExitStatus() != 1 {
		t.Errorf("a rejected client ends with %v", err)
	}
}
