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

func TestEverybodyHasASessionOfTheirOwn(t *testing.T) {
	s := open(t, nil)
	ada, bob := s.comesIn("ada", code), s.comesIn("bob", "Monday Room") // as one says it
	ada.types("hello").sees("This is the notebook of ada.", "hello", "80×23")
	bob.types("bye").sees("This is the notebook of bob.", "bye")
	if strings.Contains(bob.text(), "hello") || strings.Contains(bob.text(), "ada") {
		t.Errorf("bob sees ada's:\n%s", bob.text())
	}
	second := s.comesIn("ada", code)
	second.sees("This is the notebook of ada-2.")

	ada.types("Q")
	if err := ada.isOut(); err != nil {
		t.Errorf("who quits leaves with %v", err)
	}
	s.says(`msg="came in" name=ada-2`, "msg=left name=ada")
}

func TestEverybodyFollowsTheTeacherUntilTheyLetGo(t *testing.T) {
	s := open(t, nil)
	ada, bob, teacher := s.comesIn("ada", code), s.comesIn("bob", code), s.comesIn("tina", teacherCode)
	ada.types("mine").sees("mine")
	bob.sees("notebook of bob")
	teacher.sees("2 visitors").types("look-here").sees("look-here")

	teacher.types(roomKey).sees("f follow me").types("f").sees("f let go", "2 follow you").types("q")
	for _, g := range []*guest{ada, bob} {
		g.sees("This is the notebook of tina.", "look-here", "the teacher's screen: esc goes back to yours")
	}
	teacher.types("!").sees("look-here!")
	ada.sees("look-here!")

	ada.types("x").sees("notebook of tina") // a key too many throws nobody out
	ada.types("\x1b").sees("notebook of ada", "mine", "ctrl+t follows the teacher")
	if strings.Contains(ada.text(), "minex") {
		t.Error("what was typed there was typed on one's own screen, too")
	}
	teacher.sees("1 follow you")
	bob.sees("look-here!")
	ada.types(roomKey).sees("look-here!").types(roomKey).sees("notebook of ada")

	teacher.types(roomKey+"f").sees("f follow me").types("f").sees("f let go", "2 follow you") // called again, all follow again
	ada.sees("Predictions")
	if err := teacher.client.Close(); err != nil {
		t.Fatal(err)
	}
	ada.sees("notebook of ada", "you are on your own")
	bob.sees("notebook of bob")
}

// Who follows answers the question on the teacher's screen, and stays there.
func TestFollowersAnswerTheTeachersQuestion(t *testing.T) {
	s := open(t, nil)
	ada, bob, teacher := s.comesIn("ada", code), s.comesIn("bob", code), s.comesIn("tina", teacherCode)
	teacher.sees("2 visitors").types("?"+roomKey).sees("f follow me").types("f").sees("f let go", "2 follow you").types("q")
	ada.sees("notebook of tina", "the teacher's screen: a b answer · esc goes back to yours")
	bob.sees("notebook of tina")
	ada.types("x").types("b").sees("notebook of tina", "you said 2 s, a b change it · esc goes back ")
	teacher.sees("2 follow you", "1 of 2 answered")
	bob.types("a").sees("you said 1 s").types("b").sees("you said 2 s") // changes his mind
	teacher.sees("2 of 2 answered").types("?")                          // the question is closed
	ada.sees("the teacher's screen: esc goes back to yours").types("a")
	teacher.types(roomKey).sees("Backoff · step 5", "For how long?", "1 s   0", "█ 2")
	if strings.Contains(ada.types("\x1b").sees("notebook of ada").text(), "xba") {
		t.Error("what was answered was typed on one's own screen, too")
	}
	ada.types("1") // of another question: the page tells of the first in a line, and how many were right when the teacher shows it
	teacher.sees("Backoff · step 4", "(2) Backoff · step 5: For how long?").types("v").sees("(2 of 2 right) Backoff · step 5: For how long?")
}

func TestPredictionsAreTalliedWithoutNames(t *testing.T) {
	s := open(t, nil)
	ada, bob, cleo, teacher := s.comesIn("ada", code), s.comesIn("bob", code), s.comesIn("cleo", code), s.comesIn("tina", teacherCode)
	teacher.types(roomKey).sees("Nobody has predicted anything yet.")
	ada.types("1").sees("1")
	bob.types("2").sees("2")
	cleo.types("3").sees("3").types("2").sees("32") // changes her mind
	teacher.sees("3 of 3 visitors answered", "Which queue, and when?", "Backoff · step 4", "activeQ", "█ 1", "backoffQ", "█ 2", "unschedulable   0")
	if strings.Contains(teacher.text(), "✓") {
		t.Error("the answer is shown before it is asked for")
	}
	teacher.types("v").sees("✓ 2 backoffQ", "2 of 3 were right.")
	for _, name := range []string{"ada", "bob", "cleo"} {
		if strings.Contains(teacher.text(), name) {
			t.Errorf("%s is named beside the answers:\n%s", name, teacher.text())
		}
	}
	if err := cleo.client.Close(); err != nil { // what she predicted stays, and is hers when she is back
		t.Fatal(err)
	}
	teacher.sees("tina · 2 visitors", "3 of 3 visitors answered")
	s.comesIn("cleo", code).types("1").sees("1")
	teacher.sees("tina · 3 visitors", "activeQ        ███", "█ 2", "backoffQ", "█ 1", "1 of 3 were right.")
}

func TestTheTeacherSeesWhoIsWhereAndNobodyElseDoes(t *testing.T) {
	s := open(t, nil)
	ada, teacher := s.comesIn("ada", code), s.comesIn("tina", teacherCode)
	bob := s.comesIn("bob", code)
	ada.types("1").sees("1")
	bob.sees("notebook of bob")
	teacher.types(roomKey+"f").sees("f let go", "2 follow you")
	bob.sees("Predictions")
	teacher.types("w").sees("Who is where: 2 visitors", "Backoff, step 4", "→ ada", "T tina")
	bob.sees("notebook of tina") // and not the list
	if strings.Contains(bob.text(), "ada") {
		t.Errorf("bob sees who is where:\n%s", bob.text())
	}
	ada.types(roomKey).sees("notebook of ada").types(roomKey) // a visitor has no such page
	ada.sees("notebook of tina")
}

func TestWhoComesInAndWhoDoesNot(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Sessions = 1 })
	ada := s.comesIn("ada", code)
	ada.types("mine").sees("mine") // who has done something keeps the seat
	bob := s.comesIn("bob", code)
	bob.sees("Sorry: the room is full, with 1 in it: try again when somebody has left.")
	var exit *ssh.ExitError
	if err := bob.isOut(); !errors.As(err, &exit) || exit.ExitStatus() != 1 {
		t.Errorf("who is turned away leaves with %v", err)
	}
	s.comesIn("tina", teacherCode).sees("1 visitor") // the teacher always comes in
	ada.types("Q")
	_ = ada.isOut()
	s.says("msg=left name=ada")
	s.comesIn("bob", code).sees("notebook of bob")
}

func TestWithoutMemoryNobodyElseComesIn(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Memory = 1 << 20 })
	s.comesIn("ada", code).sees("the room has no memory left for one more")
}

func TestWhoDoesNothingIsSentOut(t *testing.T) {
	s := open(t, func(c *room.Config) { c.Limits.Idle = 300 * time.Millisecond })
	teacher := s.comesIn("tina", teacherCode)
	ada := s.comesIn("ada", code)
	ada.sees("You did nothing for 300ms")
	_ = ada.isOut()
	teacher.types("stillhere").sees("stillhere", "0 visitors")
}

func TestAClosingRoomSaysSo(t *testing.T) {
	s := open(t, nil)
	ada := s.comesIn("ada", code)
	ada.sees("notebook of ada")
	s.close()
	ada.sees("The room is closed.")
	select {
	case err := <-s.closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the room does not close")
	}
}

func TestARoomThatNobodyCouldComeInto(t *testing.T) {
	for _, test := range []struct {
		access room.Access
		says   string
	}{
		{room.Access{}, "nobody could come in"},
		{room.Access{Code: "ab-c"}, "6 letters and digits or more"},
		{room.Access{Code: "monday-room", TeacherCode: "MONDAY room"}, "must be another one"},
		{room.Access{Code: "日本"}, "6 letters and digits or more"},
		{room.Access{Code: "ééé"}, "6 letters and digits or more"},
		{room.Access{Code: "!!!!!!!!"}, "6 letters and digits or more"},
		{room.Access{Code: "aaaaaaaa"}, "more than a letter that is repeated"},
		{room.Access{Code: "12345678"}, "more than a letter that is repeated"},
		{room.Access{Code: "zyxwvuts"}, "more than a letter that is repeated"},
		{room.Access{Code: "monday-room", TeacherCode: "112233"}, "more than a letter that is repeated"},
	} {
		_, err := room.New(room.Config{HostKey: hostKey(t), Open: func(*room.Visitor) (tea.Model, error) { return nil, nil }, Access: test.access})
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v", test.access, err)
		}
	}
}
