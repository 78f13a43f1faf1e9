package web

import (
	"encoding/json"
	"errors"
)

// The page sends terminal input as binary messages, the room terminal output. Text messages are JSON:
// a message from the page, a reply from the room.

// message is what the page sends: first a login, then terminal sizes.
type message struct {
	// Name is the requested name.
	Name string `json:"name,omitempty"`
	// Code is the room's or the teacher's code.
	Code string `json:"code,omitempty"`
	// Token replaces name and code after a lost connection.
	Token string `json:"token,omitempty"`
	// Columns and Rows are the terminal's size in cells. 0 keeps the current value.
	Columns uint32 `json:"columns,omitempty"`
	Rows    uint32 `json:"rows,omitempty"`
}

// Size limits in bytes. A client that exceeds them is disconnected.
const (
	maxMessage = 2 << 10
	maxField   = 256
	maxInput   = 16 << 10 // of a binary message
)

// decode decodes a message. The error is one sentence.
func decode(data []byte) (m message, err error) {
	if len(data) > maxMessage {
		return message{}, errors.New("the message is too long")
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return message{}, errors.New("invalid message")
	}
	if max(len(m.Name), len(m.Code), len(m.Token)) > maxField {
		return message{}, errors.New("a name or code is too long")
	}
	return m, nil
}

// reply is what the room sends.
type reply struct {
	Kind string `json:"is"`
	// Text is shown to the user.
	Text string `json:"words,omitempty"`
	// Name and Token accompany an accepted login.
	Name  string `json:"name,omitempty"`
	Token string `json:"token,omitempty"`
}

// The kinds of replies.
const (
	accepted = "in"      // screen output follows
	rejected = "no"      // show the form again
	expired  = "unknown" // the token is unknown or was used
	notes    = "notes"   // the text contains the speaker notes
)
