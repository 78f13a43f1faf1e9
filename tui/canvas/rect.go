package canvas

// Rect is a rectangle of cells.
type Rect struct{ X, Y, W, H int }

// At returns the rectangle at x, y of w by h cells.
func At(x, y, w, h int) Rect { return Rect{x, y, w, h} }

// Contains reports whether the cell at x, y is in r.
func (r Rect) Contains(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }
