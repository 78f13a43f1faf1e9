package room_test

import (
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
)

// TestReconnectTakesOverName: after a lost connection, a user gets their name back at once: the
// unresponsive client does not keep it until its ping times out.
func TestReconnectTakesOverName(t *testing.T) {
	s := open(t, func(c *room.Config) {
		c.Limits.PingInterval, c.Limits.TakeOverTimeout = time.Hour, 100*time.Millisecond
	})
	teacher := s.join("tina", teacherCode)
	lost, _, _, err := ssh.NewClientConn(s.dialTCP(t), s.address, s.clientConfig("ada", code)) // its requests are not answered
	if err != nil {
		t.Fatal(err)
	}
	defer lost.Close()
	openShell(t, lost, 80, 24)
	s.logs(`msg=joined name=ada`)
	s.join("ada", code).sees("notebook of ada.").types("back").sees("back")
	s.logs(`msg=reconnected name=ada`)
	teacher.sees("tina · 1 visitor")
}

func TestResponsiveClientKeepsName(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.PingInterval, c.Limits.TakeOverTimeout = time.Hour, timeout })
	ada := s.join("ada", code)
	ada.sees("notebook of ada.")
	s.join("ada", code).sees("notebook of ada-2.")
	ada.types("mine").sees("mine")
}

// TestLatecomerFollows: a latecomer sees the shared screen, and their own session after leaving it.
func TestLatecomerFollows(t *testing.T) {
	s := open(t, nil)
	teacher := s.join("tina", teacherCode)
	ada := s.join("ada", code)
	ada.types("1").sees("1")
	teacher.types(roomKey + "f").sees("1 following").types("\x1b")
	ada.sees("notebook of tina")
	late := s.join("bob", code)
	late.sees("notebook of tina", "teacher's screen")
	late.types("\x1b").sees("notebook of bob.")
	teacher.sees("2 visitors")
}
