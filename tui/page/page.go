package page

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
)

// Page fills the middle of the screen: the board, a lesson, why?, a comparison, a chart.
type Page interface {
	// Context returns the key context that precedes the board's.
	Context() keymap.Context
	// Settle lays the page out in w by h cells. 0 by 0: it is hidden.
	Settle(w, h int)
	// Draw draws the page into the area for which it was settled.
	Draw(a canvas.Area)

	// Move moves the cursor by n rows, or scrolls. Rows is the number of rows in a screenful.
	Move(n int)
	Rows() int

	// Enter handles enter. EnterName is its name on the key bar; "" means the board's name. CannotEnter returns why enter is
	// unavailable, or "".
	Enter() tea.Cmd
	EnterName() string
	CannotEnter() string

	// Click handles a click at x, y of the page's area, Wheel the mouse wheel.
	Click(x, y int) tea.Cmd
	Wheel(t Turn)

	// Layout is the name under which an open page is remembered. "": it is not.
	Layout() string
}

// Taker is a page that handles some keys before their bindings are looked up.
type Taker interface {
	// Take reports whether it handled the key.
	Take(key string) (tea.Cmd, bool)
}

// Follower is a page that acts on each new frame.
type Follower interface {
	Follow() tea.Cmd
}

// closer is a page that cleans up when it is closed.
type closer interface{ Closed() }

// Turn is a movement of the mouse wheel.
type Turn struct {
	// X and Y are the mouse's position in the page's area. Rows is the distance, positive down or to the right.
	X, Y, Rows int
	// Sideways is set for horizontal wheels and with shift, Scaling with ctrl.
	Sideways, Scaling bool
}

// TurnRows is how many rows one notch of the wheel scrolls.
const TurnRows = 3

// Overlay is open above the page and receives the keys: a list or a prompt.
type Overlay interface {
	// Context returns the overlay's key context. Means reports whether it uses a binding that key, or the mouse with "", is for;
	// Typed gets other keys and pasted text.
	Context() keymap.Context
	Means(id keymap.ID, key string) bool
	Typed(msg tea.Msg) tea.Cmd
	// Refresh updates the overlay from a new frame. Settle lays it out in h lines of the middle.
	Refresh()
	Settle(h int)
	// Draw draws the overlay into the middle of the screen or onto the status line.
	Draw(middle, status canvas.Area)
	// Caret returns the column of the terminal's cursor on the status line, if it is shown.
	Caret(w int) (x int, shown bool)
	// Click returns the binding that a click at x, y of the middle (w by h cells) stands for.
	Click(x, y, w, h int) (keymap.ID, bool)
	Wheel(rows int)
}
