package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/coder/websocket"

	"github.com/schedq/schedq/room"
)

// maxNotesPages is how many pages can show the speaker notes at once. A teacher has few screens.
const maxNotesPages = 16

// serveNotes sends the speaker notes, as they change, to a page whose user has the teacher's code. It
// ignores later messages of the page.
func (s *Site) serveNotes(w http.ResponseWriter, r *http.Request, conn *httpConn) {
	if !sameOrigin(r) {
		http.Error(w, "Only the room's own page can read the notes.", http.StatusForbidden)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxMessage)
	id, err := s.authenticateNotes(ws, conn)
	if err != nil {
		_ = ws.Close(websocket.StatusPolicyViolation, err.Error())
		return
	}
	conn.room.FinishAuth()
	defer s.notesPages.Add(-1)
	if s.notesPages.Add(1) > maxNotesPages {
		_ = ws.Close(websocket.StatusTryAgainLater, "too many pages show the notes")
		return
	}
	ctx, cancel := context.WithCancel(ws.CloseRead(conn.ctx)) // ends when the page closes
	defer cancel()
	go conn.room.KeepAlive(ctx, notesClient{ws}, id.Name)
	send(ctx, ws, reply{Kind: accepted, Token: conn.room.IssueToken(id)})
	for shown := ""; ; {
		if shown, err = s.config.Notes(ctx, shown); err != nil {
			return
		}
		send(ctx, ws, reply{Kind: notes, Text: shown})
	}
}

// authenticateNotes asks for the teacher's code or a token until the attempts are used up.
func (s *Site) authenticateNotes(ws *websocket.Conn, conn *httpConn) (id room.Identity, err error) {
	ctx, cancel := context.WithDeadline(conn.ctx, conn.authDeadline)
	defer cancel()
	for {
		kind, data, err := ws.Read(ctx)
		if err != nil || kind != websocket.MessageText {
			return id, errors.New("the teacher's code is required")
		}
		m, err := decode(data)
		if err != nil {
			return id, err
		}
		if err := conn.room.CountAttempt(); err != nil {
			return id, err
		}
		if m.Token != "" {
			if id, ok := conn.room.CheckToken(room.NotesToken, m.Token); ok {
				return id, nil
			}
			send(ctx, ws, reply{Kind: expired, Text: "Your session has expired: enter the code again."})
			continue
		}
		const name = "notes" // in the log
		switch teacher, err := conn.room.CheckCode(name, m.Code); {
		case err == nil && teacher:
			return room.Identity{Name: name, Teacher: true}, nil
		case errors.Is(err, room.ErrThrottled):
			send(ctx, ws, reply{Kind: rejected, Text: throttled})
			return id, err
		}
		send(ctx, ws, reply{Kind: rejected, Text: "That is not the teacher's code."})
	}
}

// notesClient is a page with the notes, for Conn.KeepAlive.
type notesClient struct{ ws *websocket.Conn }

// Ping reports whether the page responds before ctx ends.
func (c notesClient) Ping(ctx context.Context) bool { return c.ws.Ping(ctx) == nil }
