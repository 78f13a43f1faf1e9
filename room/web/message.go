package web

import (
	"encoding/json"
	"errors"
)

// A page sends what is typed as binary messages, and else these, as JSON. The room sends what is shown as binary messages,
// and else answers.

// message is what a page says: the first time who wants to come in, afterwards how large the terminal is.
type message struct {
	// Name is what they ask to be called.
	Name string `json:"name,omitempty"`
	// Code is the room's, or the teacher's.
	Code string `json:"code,omitempty"`
	// Token is in place of name and code for who was in the room and has lost the connection.
	Token string `json:"token,omitempty"`
	// Columns and Rows are the terminal's size, in cells. 0 is as before.
	Columns uint32 `json:"columns,omitempty"`
	Rows    uint32 `json:"rows,omitempty"`
}

// What of a message and of the words in it is looked at, in bytes: whoever sends more is hung up on.
const (
	maxMessage = 2 << 10
	maxWord    = 256
	maxTyped   = 16 << 10 // of a binary message
)

// decode reads a message. The error is one sentence.
func decode(data []byte) (m message, err error) {
	if len(data) > maxMessage {
		return message{}, errors.New("the message is too long")
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return message{}, errors.New("the message is no JSON of this room's")
	}
	if max(len(m.Name), len(m.Code), len(m.Token)) > maxWord {
		return message{}, errors.New("a name or code is too long")
	}
	return m, nil
}

// answer is what the room says.
type answer struct {
	// Is is one of the answers below.
	Is string `json:"is"`
	// Words are for the visitor.
	Words string `json:"words,omitempty"`
	// Name and Token are for who is let in.
	Name  string `json:"name,omitempty"`
	Token string `json:"token,omitempty"`
}

// The answers.
const (
	letIn    = "in"      // what comes is the screen
	refused  = "no"      // the form is to be filled in again
	stranger = "unknown" // by a token that stands for nobody any more
	notes    = "notes"   // the words are the speaker's notes, for who reads them
)
