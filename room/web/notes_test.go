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

// notesChan is a source of notes for Config.Notes.
type notesChan chan string

func (s notesChan) next(ctx context.Context, _ string) (string, error) {
	select {
	case text := <-s:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// dialNotes opens the WebSocket of the notes page.
func (s *testRoom) dialNotes(origin string) (*visitor, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), timeout)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://"+s.address+"/speaker", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err == nil {
		s.t.Cleanup(func() { _ = ws.CloseNow() })
	}
	return &visitor{t: s.t, ws: ws}, err
}

// TestNotesNeedTheTeachersCode: only the teacher's code opens the notes. Their token works once and
// not for the room, and the room's tokens do not work for the notes.
func TestNotesNeedTheTeachersCode(t *testing.T) {
	notes := make(notesChan)
	s := open(t, web.Config{Notes: notes.next}, nil)
	home := "http://" + s.address
	tina, err := s.dialNotes(home)
	if err != nil {
		t.Fatal(err)
	}
	tina.sends(object{"code": strings.ToUpper(teacherCode)})
	in := tina.reply()
	if in["is"] != "in" || in["token"] == "" {
		t.Fatalf("the reply is %v", in)
	}
	for _, text := range []string{"Ask the class.", "<b>Point</b> at it."} {
		notes <- text
		if got := tina.reply(); got["is"] != "notes" || got["words"] != text {
			t.Errorf("the notes are %v", got)
		}
	}
	_ = tina.ws.CloseNow()
	again, err := s.dialNotes(home)
	if err != nil {
		t.Fatal(err)
	}
	again.sends(object{"token": in["token"]})
	if got := again.reply(); got["is"] != "in" {
		t.Errorf("the reply to the token is %v", got)
	}

	ada := s.visitor("ada")
	for _, login := range []object{{"code": code}, {"name": "tina", "code": "wrong-one"}, {"token": ada.login["token"]}, {"token": in["token"]}, {}} {
		eve, err := s.dialNotes(home)
		if err != nil {
			t.Fatal(err)
		}
		eve.sends(login)
		if got := eve.reply(); got["is"] != "no" && got["is"] != "unknown" {
			t.Errorf("the reply to %v is %v", login, got)
		}
	}
	room := &visitor{t: t, ws: s.dial()}
	if room.sends(object{"token": in["token"]}); room.reply()["is"] != "unknown" {
		t.Error("the token of the notes is accepted by the room")
	}
	if _, err := s.dialNotes("http://elsewhere.example"); err == nil {
		t.Error("another origin is accepted")
	}
}

// TestNotesAttempts: a connection has three attempts at the code for the notes, and wrong codes are
// logged.
func TestNotesAttempts(t *testing.T) {
	s := open(t, web.Config{Notes: make(notesChan).next}, nil)
	eve, err := s.dialNotes("http://" + s.address)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if eve.sends(object{"code": "wrong-one"}); eve.reply()["is"] != "no" {
			t.Fatal("a wrong code is accepted")
		}
	}
	eve.sends(object{"code": teacherCode})
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if _, text, err := eve.ws.Read(ctx); err == nil {
		t.Errorf("the reply to a fourth code is %s", text)
	}
	s.logs(`msg="wrong room code"`, "name=notes")
}

// TestWithoutNotes: without notes, and in a kiosk, there is no notes page.
func TestWithoutNotes(t *testing.T) {
	for r, has := range map[*testRoom]bool{
		open(t, web.Config{}, nil): false, open(t, web.Config{Kiosk: true, Notes: make(notesChan).next}, nil): false, open(t, web.Config{Notes: make(notesChan).next}, nil): true,
	} {
		want := http.StatusNotFound
		if has {
			want = http.StatusOK
		}
		for _, at := range []string{"/notes", "/notes.html", "/notes.mjs"} {
			if status, header, _ := r.get(at); status != want || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s: status %d, want %d", at, status, want)
			}
		}
		if _, err := r.dialNotes("http://" + r.address); (err == nil) != has {
			t.Errorf("opening the notes: %v", err)
		}
	}
}

func TestMaxNotesPages(t *testing.T) {
	s := open(t, web.Config{Notes: make(notesChan).next}, nil)
	for i := range 17 {
		r, err := s.dialNotes("http://" + s.address)
		if err != nil {
			t.Fatal(err)
		}
		r.sends(object{"code": teacherCode})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, text, err := r.ws.Read(ctx)
		cancel()
		if accepted := err == nil && strings.Contains(string(text), `"in"`); accepted != (i < 16) {
			t.Errorf("page %d: %s, %v", i+1, text, err)
		}
	}
}
