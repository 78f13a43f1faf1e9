package room_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
)

const roomKey = "\x14" // ctrl+t

func TestOwnSession(t *testing.T) {
	s := open(t, nil)
	ada, bob := s.join("ada", code), s.join("bob", "Monday Room") // case, spaces and dashes are ignored
	ada.types("hello").sees("This is the notebook of ada.", "hello", "80×23")
	bob.types("bye").sees("This is the notebook of bob.", "bye")
	if strings.Contains(bob.text(), "hello") || strings.Contains(bob.text(), "ada") {
		t.Errorf("bob sees ada's session:\n%s", bob.text())
	}
	second := s.join("ada", code)
	second.sees("This is the notebook of ada-2.")

	ada.types("Q")
	if err := ada.waitEnd(); err != nil {
		t.Errorf("after quitting the session ends with %v", err)
	}
	s.logs(`msg=joined name=ada-2`, "msg=left name=ada")
}

func TestFollowing(t *testing.T) {
	s := open(t, nil)
	ada, bob, teacher := s.join("ada", code), s.join("bob", code), s.join("tina", teacherCode)
	ada.types("mine").sees("mine")
	bob.sees("notebook of bob")
	teacher.sees("2 visitors").types("look-here").sees("look-here")

	teacher.types(roomKey).sees("f share screen").types("f").sees("f stop sharing", "2 following").types("q")
	for _, c := range []*client{ada, bob} {
		c.sees("This is the notebook of tina.", "look-here", "teacher's screen · esc your own screen")
	}
	teacher.types("!").sees("look-here!")
	ada.sees("look-here!")

	ada.types("x").sees("notebook of tina") // other keys do nothing
	ada.types("\x1b").sees("notebook of ada", "mine", "ctrl+t follow the teacher")
	if strings.Contains(ada.text(), "minex") {
		t.Error("input while following reaches the own session")
	}
	teacher.sees("1 following")
	bob.sees("look-here!")
	ada.types(roomKey).sees("look-here!").types(roomKey).sees("notebook of ada")

	teacher.types(roomKey+"f").sees("f share screen").types("f").sees("f stop sharing", "2 following") // a new share: everybody follows again
	ada.sees("Predictions")
	if err := teacher.ssh.Close(); err != nil {
		t.Fatal(err)
	}
	ada.sees("notebook of ada", "your own session")
	bob.sees("notebook of bob")
}

// TestFollowersAnswer: followers answer the question on the shared screen, and keep following.
func TestFollowersAnswer(t *testing.T) {
	s := open(t, nil)
	ada, bob, teacher := s.join("ada", code), s.join("bob", code), s.join("tina", teacherCode)
	teacher.sees("2 visitors").types("?"+roomKey).sees("f share screen").types("f").sees("f stop sharing", "2 following").types("q")
	ada.sees("notebook of tina", "teacher's screen · a b answer · esc your own screen")
	bob.sees("notebook of tina")
	ada.types("x").types("b").sees("notebook of tina", "you said 2 s · a b change · esc your own screen")
	teacher.sees("2 following", "1 of 2 answered")
	bob.types("a").sees("you said 1 s").types("b").sees("you said 2 s") // changes his mind
	teacher.sees("2 of 2 answered").types("?")                          // the question is closed
	ada.sees("teacher's screen · esc your own screen").types("a")
	teacher.types(roomKey).sees("Backoff · step 5", "For how long?", "1 s   0", "█ 2")
	if strings.Contains(ada.types("\x1b").sees("notebook of ada").text(), "xba") {
		t.Error("an answer reaches the own session")
	}
	ada.types("1") // another question: the page lists the first one below, with the right answers once revealed
	teacher.sees("Backoff · step 4", "(2) Backoff · step 5: For how long?").types("v").sees("(2 of 2 right) Backoff · step 5: For how long?")
}

func TestPredictionsAreTalliedWithoutNames(t *testing.T) {
	s := open(t, nil)
	ada, bob, cleo, teacher := s.join("ada", code), s.join("bob", code), s.join("cleo", code), s.join("tina", teacherCode)
	teacher.types(roomKey).sees("No predictions yet.")
	ada.types("1").sees("1")
	bob.types("2").sees("2")
	cleo.types("3").sees("3").types("2").sees("32") // changes her mind
	teacher.sees("3 of 3 visitors answered", "Which queue, and when?", "Backoff · step 4", "activeQ", "█ 1", "backoffQ", "█ 2", "unschedulable   0")
	if strings.Contains(teacher.text(), "✓") {
		t.Error("the right answer is shown before v")
	}
	teacher.types("v").sees("✓ 2 backoffQ", "2 of 3 were right.")
	for _, name := range []string{"ada", "bob", "cleo"} {
		if strings.Contains(teacher.text(), name) {
			t.Errorf("%s is named next to the answers:\n%s", name, teacher.text())
		}
	}
	if err := cleo.ssh.Close(); err != nil { // her answer stays, and she can change it after reconnecting
		t.Fatal(err)
	}
	teacher.sees("tina · 2 visitors", "3 of 3 visitors answered")
	s.join("cleo", code).types("1").sees("1")
	teacher.sees("tina · 3 visitors", "activeQ        ███", "█ 2", "backoffQ", "█ 1", "1 of 3 were right.")
}

func TestOnlyTheTeacherSeesPeople(t *testing.T) {
	s := open(t, nil)
	ada, teacher := s.join("ada", code), s.join("tina", teacherCode)
	bob := s.join("bob", code)
	ada.types("1").sees("1")
	bob.sees("notebook of bob")
	teacher.types(roomKey+"f").sees("f stop sharing", "2 following")
	bob.sees("Predictions")
	teacher.types("w").sees("People: 2 visitors", "Backoff, step 4", "→ ada", "T tina")
	bob.sees("notebook of tina") // not the list
	if strings.Contains(bob.text(), "ada") {
		t.Errorf("bob sees the list of people:\n%s", bob.text())
	}
	ada.types(roomKey).sees("notebook of ada").types(roomKey) // a visitor has no room page
	ada.sees("notebook of tina")
}

func TestFullRoom(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Sessions = 1 })
	ada := s.join("ada", code)
	ada.types("mine").sees("mine") // an active visitor keeps the seat
	bob := s.join("bob", code)
	bob.sees("Sorry: the room is full, with 1 visitor: try again when somebody has left.")
	var exit *ssh.ExitError
	if err := bob.waitEnd(); !errors.As(err, &exit) || exit.ExitStatus() != 1 {
		t.Errorf("a rejected client ends with %v", err)
	}
	s.join("tina", teacherCode).sees("1 visitor") // teachers have their own seats
	ada.types("Q")
	_ = ada.waitEnd()
	s.logs("msg=left name=ada")
	s.join("bob", code).sees("notebook of bob")
}

func TestOutOfMemory(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Memory = 1 << 20 })
	s.join("ada", code).sees("the room is out of memory")
}

func TestIdleVisitorLeaves(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Idle = 300 * time.Millisecond })
	teacher := s.join("tina", teacherCode)
	ada := s.join("ada", code)
	ada.sees("You were inactive for 300ms")
	_ = ada.waitEnd()
	teacher.types("stillhere").sees("stillhere", "0 visitors")
}

func TestClosingRoom(t *testing.T) {
	s := open(t, nil)
	ada := s.join("ada", code)
	ada.sees("notebook of ada")
	s.close()
	ada.sees("The room is closed.")
	select {
	case err := <-s.closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(timeout):
		t.Error("the room does not close")
	}
}

func TestInvalidAccess(t *testing.T) {
	for _, test := range []struct {
		access room.Access
		want   string
	}{
		{room.Access{}, "nobody can join"},
		{room.Access{Code: "ab-c"}, "use 6 letters and digits or more"},
		{room.Access{Code: "monday-room", TeacherCode: "MONDAY room"}, "must differ"},
		{room.Access{Code: "日本"}, "use 6 letters and digits or more"},
		{room.Access{Code: "ééé"}, "use 6 letters and digits or more"},
		{room.Access{Code: "!!!!!!!!"}, "use 6 letters and digits or more"},
		{room.Access{Code: "aaaaaaaa"}, "easy to guess"},
		{room.Access{Code: "12345678"}, "easy to guess"},
		{room.Access{Code: "QWERTY"}, "easy to guess"},
		{room.Access{Code: "lkjhgfdsa"}, "easy to guess"},
		{room.Access{Code: "zyxwvuts"}, "easy to guess"},
		{room.Access{Code: "monday-room", TeacherCode: "112233"}, "easy to guess"},
	} {
		_, err := room.New(room.Config{HostKey: hostKey(t), Open: func(*room.Visitor) (tea.Model, error) { return nil, nil }, Access: test.access})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.access, err)
		}
	}
}
