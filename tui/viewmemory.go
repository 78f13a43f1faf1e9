package tui

import (
	"time"

	"github.com/schedq/schedq/queue/session/board"
)

// View is how a source was looked at.
type View struct {
	Filter string `json:"filter,omitempty"`
	// Sorts are the orders of tiers that are not sorted as the queue has them, by the tiers' names.
	Sorts map[string]board.Sort `json:"sorts,omitempty"`
	// Columns are those of panes for which a person chose some, by the panes' titles.
	Columns map[string][]string `json:"columns,omitempty"`
	// Pane is the one in focus, Layout what had the whole screen, if anything had.
	Pane   string `json:"pane,omitempty"`
	Layout string `json:"layout,omitempty"`
	// Marks are those that the person set in a recording.
	Marks []Mark `json:"marks,omitempty"`
}

// Mark is a moment that has a name.
type Mark struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Named is a view of a person's own, by a name. Its sorts are by the panes' titles.
type NamedView struct {
	Name string
	View View
}

// Memory keeps how sources were looked at. Its methods are called outside of the screen's own goroutine.
type Memory interface {
	// Recall returns how the source was looked at last.
	Recall(source string) (View, bool)
	// Keep remembers how it is looked at.
	Keep(source string, v View) error
}
