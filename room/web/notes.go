package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/coder/websocket"

	"github.com/schedq/schedq/room"
)

// mostReaders is how many pages can show the speaker's notes at once: a teacher has few screens.
const mostReaders = 16

// showNotes shows the speaker's notes to a page whose reader has the teacher's code, as they change, until one of the two is
// gone. Nothing that the page says afterwards is looked at.
func (s *Site) showNotes(w http.ResponseWriter, r *http.Request, conn *called) {
	if !sameOrigin(r) {
		http.Error(w, "Only the room's own page has the notes.", http.StatusForbidden)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxMessage)
	p, err := s.admitReader(ws, conn)
	if err != nil {
		_ = ws.Close(websocket.StatusPolicyViolation, err.Error())
		return
	}
	conn.caller.LetIn()
	defer s.reading.Add(-1)
	if s.reading.Add(1) > mostReaders {
		_ = ws.Close(websocket.StatusTryAgainLater, "too many pages show the notes")
		return
	}
	ctx, cancel := context.WithCancel(ws.CloseRead(conn.ctx)) // which ends when the page goes
	defer cancel()
	go conn.caller.KeepAsking(ctx, reader{ws}, p.Name)
	reply(ctx, ws, answer{Is: letIn, Token: s.readers.issue(p)})
	for shown := ""; ; {
		if shown, err = s.config.Notes(ctx, shown); err != nil {
			return
		}
		reply(ctx, ws, answer{Is: notes, Words: shown})
	}
}

// admitReader asks for the teacher's code, as often as the room allows. A visitor's lets nobody read.
func (s *Site) admitReader(ws *websocket.Conn, conn *called) (p room.Pass, err error) {
	ctx, cancel := context.WithDeadline(conn.ctx, conn.until)
	defer cancel()
	for {
		kind, data, err := ws.Read(ctx)
		if err != nil || kind != websocket.MessageText {
			return p, errors.New("nobody said the teacher's code")
		}
		m, err := decode(data)
		if err != nil {
			return p, err
		}
		if err := conn.caller.Try(); err != nil {
			return p, err
		}
		if m.Token != "" {
			if p, ok := s.readers.redeem(m.Token); ok {
				return p, nil
			}
			reply(ctx, ws, answer{Is: stranger, Words: "You were away for long: the code once more."})
			continue
		}
		const who = "notes" // in the log
		switch teacher, err := conn.caller.Judge(who, m.Code); {
		case err == nil && teacher:
			return room.Pass{Name: who, Teacher: true}, nil
		case errors.Is(err, room.ErrUnheard):
			reply(ctx, ws, answer{Is: refused, Words: unheard})
			return p, err
		}
		reply(ctx, ws, answer{Is: refused, Words: "That is not the teacher's code."})
	}
}

// reader is a page with the notes, which is asked whether it is there.
type reader struct{ ws *websocket.Conn }

// Answers asks the page, and reports whether it says so before ctx ends.
func (r reader) Answers(ctx context.Context) bool { return r.ws.Ping(ctx) == nil }
