package page

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
)

// Page has the middle of the screen: the board, a lesson around it, why?, a comparison, a chart.
type Page interface {
	// Context is whose keys come before the board's.
	Context() keymap.Context
	// Settle puts all in its place in a room of w by h cells. 0 by 0: it can't be seen.
	Settle(w, h int)
	// Draw draws it into the room for which it was settled.
	Draw(a canvas.Area)

	// Move moves its cursor by n rows, or scrolls; Rows is how many a page of it is.
	Move(n int)
	Rows() int

	// Enter does what enter means here, which EnterName calls by name: empty is what it is called on the board.
	// CannotEnter is why it means nothing.
	Enter() tea.Cmd
	EnterName() string
	CannotEnter() string

	// Click does what a click at x, y of its room means, Wheel what turning the wheel does.
	Click(x, y int) tea.Cmd
	Wheel(t Turn)

	// Layout is what it is called where it is remembered that it was open. Empty: it is not.
	Layout() string
}

// Taker is a page that takes some keys before anybody looks what they are bound to.
type Taker interface {
	// Take returns true if the key has been taken.
	Take(key string) (tea.Cmd, bool)
}

// Follower is a page that has something to do with a newer frame.
type Follower interface {
	Follow() tea.Cmd
}

// closer is a page that something is left to do for when it is closed.
type closer interface{ Closed() }

// Turn is a turn of the mouse's wheel.
type Turn struct {
	// X and Y are where the mouse is, in the page's room; Rows is how far it turned, down or to the right.
	X, Y, Rows int
	// Sideways and Scaling are what it was turned with: to the side or with shift, and with ctrl.
	Sideways, Scaling bool
}

// TurnRows is how many rows one click of the wheel is.
const TurnRows = 3

// Overlay is open above the page and gets the keys: a list or a prompt.
type Overlay interface {
	// Context is whose keys it has. Of these, Means says which mean something in it; what does not is typed.
	Context() keymap.Context
	Means(id keymap.ID) bool
	Typed(msg tea.Msg) tea.Cmd
	// Refresh takes over what a newer frame says, and Settle makes it fit into h lines of the middle.
	Refresh()
	Settle(h int)
	// Draw draws it into the middle of the screen or onto the status line.
	Draw(middle, status canvas.Area)
	// Caret is where in the status line the terminal's cursor stands, if it does.
	Caret(w int) (x int, shown bool)
	// Click returns the binding that a click at x, y of the middle, which is w by h cells, is as good as.
	Click(x, y, w, h int) (keymap.ID, bool)
	Wheel(rows int)
}
