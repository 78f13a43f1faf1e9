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

// In a full room, who does nothing gives way to who comes; who has done something does not.
func TestAnUnusedSeatIsTaken(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Sessions = 3 })
	ada, eve, mallory := s.comesIn("ada", code), s.comesIn("eve", code), s.comesIn("mallory", code)
	eve.sees("notebook of eve")
	mallory.sees("notebook of mallory")
	ada.types("mine").sees("mine")
	bob := s.comesIn("bob", code)
	bob.sees("notebook of bob").types("mine").sees("mine")
	eve.sees("The room is full and you had done nothing: your seat is somebody else's now.")
	cleo := s.comesIn("cleo", code)
	cleo.sees("notebook of cleo").types("mine").sees("mine")
	mallory.sees("your seat is somebody else's now")
	s.comesIn("eve", code).sees("Sorry: the room is full, with 3 in it")
	for _, g := range []*guest{ada, bob, cleo} {
		g.types("!").sees("mine!")
	}
}

// Of those who come by one name, one makes way before others do.
func TestOneNameTakesNoSeatsFromOthers(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Sessions = 3 })
	ada, first, second := s.comesIn("ada", code), s.comesIn("eve", code), s.comesIn("eve", code)
	ada.sees("notebook of ada")
	first.sees("notebook of eve")
	second.sees("notebook of eve-2")
	s.comesIn("eve", code).sees("notebook of eve")
	first.sees("your seat is somebody else's now")
	ada.types("here").sees("here")
}

func TestOneAddressHasItsShare(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.PerAddress = 1 })
	ada := s.comesIn("ada", code)
	ada.types("mine").sees("mine")
	s.comesIn("bob", code).sees("Sorry: the room takes 1 at once from where you come from: try again later.")
	s.comesIn("tina", teacherCode).sees("1 visitor")
}

func TestTheTeacherSendsOneOut(t *testing.T) {
	s := open(t, nil)
	ada, eve, teacher := s.comesIn("ada", code), s.comesIn("eve", code), s.comesIn("tina", teacherCode)
	ada.sees("notebook of ada")
	eve.sees("notebook of eve")
	teacher.sees("2 visitors").types(roomKey+"w").sees("Who is where: 2 visitors", "▸   ada", "  eve")
	teacher.types("x").sees("send out ada: x once more does it").types("j").sees("▸   eve")
	if strings.Contains(teacher.text(), "once more") {
		t.Error("another key does not take it back")
	}
	teacher.types("x").sees("send out eve: x once more").types("x").sees("eve is out", "1 visitor")
	eve.sees("The teacher has sent you out.")
	s.comesIn("eve", code).sees("Sorry: the teacher has sent you out: you can come in again in 15 minutes.")
	s.says(`msg="sent out" name=eve from=127.0.0.1 by=tina`)
	teacher.types("jx").sees("send out tina").types("x").sees("a teacher stays")
	ada.types("here").sees("here")
}

func TestTheTeacherChangesTheCode(t *testing.T) {
	s := open(t, nil)
	ada, bob, teacher := s.comesIn("ada", code), s.comesIn("bob", code), s.comesIn("tina", teacherCode)
	ada.sees("notebook of ada")
	bob.sees("notebook of bob")
	teacher.sees("2 visitors").types(roomKey+"f").sees("f let go", "2 follow you").types("w").sees("Who is where")
	teacher.types("c").sees("a new code for those who come: c once more does it").types("c").sees("The room has the code ")
	changed := regexp.MustCompile(`the code ([a-z2-9]{4}-[a-z2-9]{4}) now`).FindStringSubmatch(teacher.text())
	if changed == nil {
		t.Fatalf("which code?\n%s", teacher.text())
	}
	if _, err := s.dial("eve", code); err == nil {
		t.Error("the old code opens the door")
	}
	s.comesIn("cleo", changed[1]).sees("notebook of tina") // who follows with all
	bob.sees("notebook of tina")
	ada.types("\x1b").sees("notebook of ada").types("here").sees("here")
	if strings.Contains(bob.text(), changed[1]) || strings.Contains(s.log.String(), changed[1]) {
		t.Error("others than the teacher are told of the code")
	}
	s.says(`msg="the room has another code" by=tina`)
}

// Names that can't be seen, or turn round what is beside them, are refused.
func TestNamesThatCanNotBeShown(t *testing.T) {
	s := open(t, nil)
	for _, name := range []string{"\u3164\u3164", "a\u115fb", "\uffa0", "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627", "a\u0661"} {
		g := s.comesIn(name, code)
		g.sees("Sorry: a name", "come in by another")
		_ = g.isOut()
	}
	s.comesIn("漢字-Ωé", code).sees("notebook of 漢字-Ωé")
}

func TestTheLogSaysWhySomebodyLeft(t *testing.T) {
	s := open(t, nil)
	s.comesIn("ada", code).sees("notebook of ada").types("Q")
	bob := s.comesIn("bob", code).sees("notebook of bob")
	if err := bob.client.Close(); err != nil {
		t.Fatal(err)
	}
	s.says("msg=left name=ada", `why="they quit"`, "msg=left name=bob", `why="they hung up"`)
	if strings.Contains(s.log.String(), "nil") {
		t.Errorf("the log says nil:\n%s", s.log)
	}
}

// Nothing with SHA-1 is offered, and no signature with it is taken.
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
	c := s.plain(t)
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(patience))
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
		t.Error("a signature with SHA-1 opens the door")
	}
}

// Who was sent out and came by a key does not come in by another name either.
func TestAKeyThatWasSentOut(t *testing.T) {
	mine := hostKey(t)
	s := open(t, func(c *room.Config) { c.Access.Keys = []ssh.PublicKey{mine.PublicKey()} })
	s.key = mine
	teacher := s.comesIn("tina", teacherCode)
	s.comesIn("eve", "").sees("notebook of eve")
	teacher.sees("1 visitor").types(roomKey + "wj").sees("▸   eve").types("xx").sees("eve is out")
	again := s.comesIn("mallory", "")
	again.sees("Sorry: the teacher has sent you out")
	var exit *ssh.ExitError
	if err := again.isOut(); !errors.As(err, &exit) || exit.ExitStatus() != 1 {
		t.Errorf("who is turned away leaves with %v", err)
	}
}
