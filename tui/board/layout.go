package board

import "github.com/schedq/schedq/tui/canvas"

// outline selects the parts of a board and the heights that don't follow from the rest.
type outline struct {
	// tabs shows one pane at a time, below the titles of all three. wide shows the selected pod
	// beside the log.
	tabs, wide bool
	// The heights: counts is the large counts for a projector, longest the pod that has waited
	// longest.
	counts, longest, flight, log int
	// closed adds a line below the panes that closes the frame of the focused one.
	closed bool
	// spacing is the number of lines per pod.
	spacing int
}

// small reports whether a screen of that width is too narrow for three panes side by side.
func small(w int) bool { return w < 80 }

// minDockedHeight is the smallest height at which the board shows its log and the longest wait
// above a docked page.
const minDockedHeight = 22

// minFullHeight is the smallest height at which the board shows its log and the longest wait.
const minFullHeight = 13

// outline returns the outline of a board with h lines.
func (b *Board) outline(h int) outline {
	s := outline{tabs: small(b.Width), flight: 1, spacing: 1}
	s.wide = !s.tabs && b.Width >= 120 && b.Height >= 30
	s.closed = b.Height >= 30
	if b.Projector && b.Height >= 24 && !b.logAlone() {
		s.counts = largeRows
		if b.Height >= 36 {
			s.spacing = 2
		}
	}
	switch {
	case b.Pages.Zoomed:
	case s.counts > 0 && b.Height < 30:
		s.log = 4
	case s.tabs:
		s.log = 4
	case b.Height >= 30:
		s.log = (h - s.counts - 2) * 2 / 5
	default:
		s.log = 5
	}
	if h < minFullHeight || b.Pages.Docked() != nil && h < minDockedHeight {
		if b.focus != logPane {
			s.log = 0
		}
		return s
	}
	if s.counts == 0 && !b.Pages.Zoomed {
		s.longest = longestRows(b.Width)
	}
	return s
}

// OutlineAbove returns the outline of a board with h lines above a lesson. Where not everything
// fits, the large counts replace the pods in flight.
func (b *Board) OutlineAbove(h int) outline {
	s := outline{tabs: small(b.Width), flight: 1, spacing: 1}
	if b.Projector && b.Height >= 24 {
		s.counts = largeRows
	}
	switch {
	case s.counts > 0 && b.Height < 30:
		s.flight = 0
	case !b.Pages.Zoomed:
		s.log = max(2, (h-s.counts)/3)
	}
	if s.tabs {
		s.log = min(s.log, 2)
	}
	if h < minLogHeight {
		s.log = 0
	}
	return s
}

// minLogHeight is the smallest height at which a board above a lesson shows its log.
const minLogHeight = 8

// logAlone reports whether the log fills the board.
func (b *Board) logAlone() bool { return b.Pages.Zoomed && b.focus == logPane }

// parts has the rectangles of the board's parts. A hidden part has no size.
type parts struct {
	spacing   int
	counts    canvas.Rect
	tabTitles canvas.Rect
	// side is the area of the panes, with a column for a frame beside each. divide shares it by
	// content.
	side    canvas.Rect
	closed  bool
	panes   [3]canvas.Rect
	longest canvas.Rect
	flight  canvas.Rect
	log     canvas.Rect
	detail  canvas.Rect
}

// Arrange divides an area of w by h cells.
func (b *Board) Arrange(w, h int, s outline) parts {
	p := parts{spacing: s.spacing}
	p.counts = canvas.At(0, 0, w, s.counts)
	y := s.counts
	if b.logAlone() {
		p.log = inFrame(canvas.At(0, y, w, h-y))
		return p
	}
	if s.tabs {
		p.tabTitles = canvas.At(0, y, w, 1)
		y++
	}
	p.side = canvas.At(0, y, w, h-y-s.log-s.flight-s.longest)
	y = p.side.Y + p.side.H
	if s.closed {
		p.closed = true
		p.side.H--
	}
	p.longest = canvas.At(0, y, w, s.longest)
	p.flight = canvas.At(0, y+s.longest, w, s.flight)
	p.log = inFrame(canvas.At(0, p.flight.Y+s.flight, w, s.log))
	if s.wide && s.log > 0 {
		p.log.W = w*9/16 - 2
		p.detail = inFrame(canvas.At(p.log.X+p.log.W, p.log.Y, w-p.log.X-p.log.W, s.log))
	}
	if s.tabs || b.Pages.Zoomed {
		p.panes[b.tab] = inFrame(p.side)
		return p
	}
	for i := range p.panes {
		p.panes[i] = canvas.At(1, p.side.Y, 0, p.side.H) // divide sets the width
	}
	return p
}

// inFrame returns r without the two columns of its frame.
func inFrame(r canvas.Rect) canvas.Rect { return canvas.At(r.X+1, r.Y, max(0, r.W-2), r.H) }

// divide gives each pane the width for its visible content, and places its columns.
func (b *Board) divide(p *parts) {
	if alone := p.panes[b.tab]; alone.W == 0 && p.side.H > 0 {
		var wishes [len(p.panes)]wish
		for id := range p.panes {
			wishes[id] = b.held[id].hold(b.pane(paneID(id)).wish(paneRows(p.side.H, p.spacing)), b.Frame)
		}
		x := 1
		for id, w := range share(p.side.W-len(p.panes)-1, wishes[:]) {
			p.panes[id].X, p.panes[id].W = x, w
			x += w + 1
		}
	}
	for id, r := range p.panes {
		b.fitted[id] = nil
		if r.W > 0 {
			b.fitted[id] = b.pane(paneID(id)).fit(r.W, paneRows(r.H, p.spacing))
		}
	}
}
