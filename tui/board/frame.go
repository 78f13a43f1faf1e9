package board

import (
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/theme"
)

// drawFrames draws the lines between the panes and beside the log, and a heavy coloured frame
// around the focused one.
func (b *Board) drawFrames(a canvas.Area) {
	p := b.parts
	focus := canvas.Rect{}
	for id, r := range p.panes {
		if r.W == 0 || r.H == 0 {
			continue
		}
		light(a, r, p.closed)
		if b.focused(paneID(id)) {
			focus = r
		}
	}
	if p.log.H > 0 {
		light(a, p.log, false)
		if b.focused(logPane) {
			focus = p.log
		}
	}
	if p.detail.H > 0 {
		light(a, p.detail, false)
	}
	if focus.H > 0 {
		heavy(a, focus, paneStyle(b.focus), p.closed && b.focus != logPane)
	}
}

// light draws the line at the left of r, unless r is at the left edge, and at the bottom if closed
// is true.
func light(a canvas.Area, r canvas.Rect, closed bool) {
	a.Sub(r.X-1, r.Y, 1, 1).Fill(theme.Dim, "─")
	a.Sub(r.X+r.W, r.Y, 1, 1).Fill(theme.Dim, "─")
	if closed {
		a.Sub(r.X-1, r.Y+r.H, r.W+2, 1).Fill(theme.Dim, "─")
	}
	if r.X > 1 {
		a.Sub(r.X-1, r.Y, 1, r.H).Fill(theme.Dim, "│")
		a.Sub(r.X-1, r.Y, 1, 1).Fill(theme.Dim, "┬")
		if closed {
			a.Sub(r.X-1, r.Y+r.H, 1, 1).Fill(theme.Dim, "┴")
		}
	}
}

// heavy draws a frame around r. Its upper side is the title's line. The lower side is drawn only if
// closed is true.
func heavy(a canvas.Area, r canvas.Rect, style canvas.Style, closed bool) {
	for _, side := range [...]struct {
		x                   int
		upper, beside, foot string
	}{{r.X - 1, "┏", "┃", "┗"}, {r.X + r.W, "┓", "┃", "┛"}} {
		a.Sub(side.x, r.Y, 1, 1).Fill(style, side.upper)
		a.Sub(side.x, r.Y+1, 1, r.H-1).Fill(style, side.beside)
		if closed {
			a.Sub(side.x, r.Y+r.H, 1, 1).Fill(style, side.foot)
		}
	}
	if closed {
		a.Sub(r.X, r.Y+r.H, r.W, 1).Fill(style, "━")
	}
}
