package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/schedq/schedq/room/web"
)

// speech are notes that change when the test says so.
type speech chan string

func (s speech) next(ctx context.Context, _ string) (string, error) {
	select {
	case text := <-s:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// reader opens a WebSocket as the page with the notes does.
func (s *school) reader(origin string) (*visitor, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://"+s.address+"/speaker", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err == nil {
		s.t.Cleanup(func() { _ = ws.CloseNow() })
	}
	return &visitor{t: s.t, ws: ws}, err
}

// Whoever has the teacher's code reads the notes of each step, and by the token again, once; whoever has the visitors' code, or
// their token, or comes from another page, does not.
func TestTheNotesAreTheTeachersAlone(t *testing.T) {
	notes := make(speech)
	s := open(t, web.Config{Notes: notes.next}, nil)
	home := "http://" + s.address
	tina, err := s.reader(home)
	if err != nil {
		t.Fatal(err)
	}
	tina.says(words{"code": strings.ToUpper(teacherCode)})
	in := tina.answered()
	if in["is"] != "in" || in["token"] == "" {
		t.Fatalf("the teacher is told %v", in)
	}
	for _, text := range []string{"Ask who has seen it.", "<b>Point</b> at it."} {
		notes <- text
		if got := tina.answered(); got["is"] != "notes" || got["words"] != text {
			t.Errorf("the notes are %v", got)
		}
	}
	_ = tina.ws.CloseNow()
	again, err := s.reader(home)
	if err != nil {
		t.Fatal(err)
	}
	again.says(words{"token": in["token"]})
	if got := again.answered(); got["is"] != "in" {
		t.Errorf("who was away is told %v", got)
	}

	ada := s.visitor("ada")
	for _, said := range []words{{"code": code}, {"name": "tina", "code": "wrong-one"}, {"token": ada.in["token"]}, {"token": in["token"]}, {}} {
		eve, err := s.reader(home)
		if err != nil {
			t.Fatal(err)
		}
		eve.says(said)
		if got := eve.answered(); got["is"] != "no" && got["is"] != "unknown" {
			t.Errorf("by %v somebody is told %v", said, got)
		}
	}
	room := &visitor{t: t, ws: s.dial()}
	if room.says(words{"token": in["token"]}); room.answered()["is"] != "unknown" {
		t.Error("what lets one read lets one into the room, too")
	}
	if _, err := s.reader("http://elsewhere.example"); err == nil {
		t.Error("another page reads the notes")
	}
}

// Wrong codes for the notes take their turns with those for the room, and a connection has three.
func TestTheNotesAreNotGuessed(t *testing.T) {
	s := open(t, web.Config{Notes: make(speech).next}, nil)
	eve, err := s.reader("http://" + s.address)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if eve.says(words{"code": "wrong-one"}); eve.answered()["is"] != "no" {
			t.Fatal("a wrong code is not refused")
		}
	}
	eve.says(words{"code": teacherCode})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, text, err := eve.ws.Read(ctx); err == nil {
		t.Errorf("a fourth code is answered by %s", text)
	}
	s.says(`msg="wrong room code"`, "name=notes")
}

// Where there are no notes, or everybody may come in, there is no page of them.
func TestWithoutNotesThereIsNoPageOfThem(t *testing.T) {
	for what, has := range map[*school]bool{
		open(t, web.Config{}, nil): false, open(t, web.Config{Kiosk: true, Notes: make(speech).next}, nil): false, open(t, web.Config{Notes: make(speech).next}, nil): true,
	} {
		want := http.StatusNotFound
		if has {
			want = http.StatusOK
		}
		for _, at := range []string{"/notes", "/notes.html", "/notes.mjs"} {
			if status, header, _ := what.get(at); status != want || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s is %d, and not %d", at, status, want)
			}
		}
		if _, err := what.reader("http://" + what.address); (err == nil) != has {
			t.Errorf("the notes are to be had: %v", err)
		}
	}
}

// Few pages show the notes at once, whoever has the code.
func TestFewReadTheNotes(t *testing.T) {
	s := open(t, web.Config{Notes: make(speech).next}, nil)
	for i := range 17 {
		r, err := s.reader("http://" + s.address)
		if err != nil {
			t.Fatal(err)
		}
		r.says(words{"code": teacherCode})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, text, err := r.ws.Read(ctx)
		cancel()
		if let := err == nil && strings.Contains(string(text), `"in"`); let != (i < 16) {
			t.Errorf("page %d: %s, %v", i+1, text, err)
		}
	}
}
