package tui

import "github.com/schedq/schedq/tui/canvas"

// SideBySide is the width from which on two stand side by side; on narrower terminals one is above the other.
const sideBySideWidth = 120

// Rooms divides w by h cells between two: side by side with a column between them, or one above the other, whose title
// divides them well enough.
func splitRects(w, h int) (rooms [2]canvas.Rect, divider canvas.Rect) {
	if w >= sideBySideWidth {
		first := (w - 1) / 2
		return [2]canvas.Rect{canvas.At(0, 0, first, h), canvas.At(first+1, 0, w-first-1, h)}, canvas.At(first, 0, 1, h)
	}
	first := (h + 1) / 2
	return [2]canvas.Rect{canvas.At(0, 0, w, first), canvas.At(0, first, w, h-first)}, canvas.Rect{}
}
