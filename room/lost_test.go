package room_test

import (
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
)

// Whose connection was lost comes in again by the same name, and has it at once: the client that was closed without a word
// does not keep it until it is missed.
func TestWhoseConnectionWasLostHasTheNameAgain(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Ping, c.Limits.Answer = time.Hour, 100*time.Millisecond })
	teacher := s.comesIn("tina", teacherCode)
	lost, channels, requests, err := ssh.NewClientConn(s.plain(t), s.address, s.as("ada", code))
	if err != nil {
		t.Fatal(err)
	}
	defer lost.Close()
	_, _ = channels, requests // are not answered
	channel, ofChannel, err := lost.OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	go ssh.DiscardRequests(ofChannel)
	terminal := ssh.Marshal(struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}{"xterm", 80, 24, 0, 0, ""})
	if ok, err := channel.SendRequest("pty-req", true, terminal); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := channel.SendRequest("shell", true, nil); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.says(`msg="came in" name=ada`)
	s.comesIn("ada", code).sees("notebook of ada.").types("back").sees("back")
	s.says(`msg="lost, and back" name=ada`)
	teacher.sees("tina · 1 visitor")
}

// Who is there keeps the name, whoever else comes in by it.
func TestWhoAnswersKeepsTheName(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Ping, c.Limits.Answer = time.Hour, patience })
	ada := s.comesIn("ada", code)
	ada.sees("notebook of ada.")
	s.comesIn("ada", code).sees("notebook of ada-2.")
	ada.types("mine").sees("mine")
}

// Who comes late, or again, while the teacher is followed sees what all see, and is on their own where they were.
func TestWhoComesLateFollows(t *testing.T) {
	s := open(t, nil)
	teacher := s.comesIn("tina", teacherCode)
	ada := s.comesIn("ada", code)
	ada.types("1").sees("1")
	teacher.types(roomKey + "f").sees("1 follow").types("\x1b")
	ada.sees("notebook of tina")
	late := s.comesIn("bob", code)
	late.sees("notebook of tina", "the teacher's screen")
	late.types("\x1b").sees("notebook of bob.")
	teacher.sees("2 visitors")
}
