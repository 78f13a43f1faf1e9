package widget

import (
	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/theme"
)

// KeySpot is where the bar shows a key.
type KeySpot struct {
	canvas.Rect
	ID keymap.ID
}

// KeyBar is the last line of the screen: the keys that are available.
type KeyBar struct {
	// Shown are the bindings by importance, with their current names. Always are those that are never left out.
	Shown, Always []keymap.Binding
}

// Draw draws as many keys as fit, and appends their positions to spots.
func (k KeyBar) Draw(a canvas.Area, spots []KeySpot) []KeySpot {
	right := a.W - 1
	for i := len(k.Always) - 1; i >= 0; i-- {
		b := k.Always[i]
		right = a.Right(right, 0, theme.Dim, b.Name)
		end := right
		right = a.Right(right-1, 0, theme.Accent|canvas.Bold, b.Key()) - 2
		spots = append(spots, KeySpot{canvas.At(right+2, 0, end-right-2+canvas.Width(b.Name), 1), b.ID})
	}
	x := 1
	for _, b := range k.Shown {
		if x+canvas.Width(b.Key())+1+canvas.Width(b.Name) > right {
			continue
		}
		left := x
		x = a.Text(x, 0, theme.Accent|canvas.Bold, b.Key())
		x = a.Text(x+1, 0, theme.Dim, b.Name) + 2
		spots = append(spots, KeySpot{canvas.At(left, 0, x-2-left, 1), b.ID})
	}
	return spots
}
