package board

import "github.com/schedq/schedq/tui/canvas"

// outline says which parts a board has, and how many lines those take whose height does not follow from the rest.
type outline struct {
	// tabs shows one pane at a time, below the titles of all three; wide has the detail of the selected pod beside
	// the log.
	tabs, wide bool
	// counts are the large ones, for a projector; longest tells of the pod that waits longest.
	counts, longest, flight, log int
	// closed has a line of its own end the panes, so that the frame of the one in focus is closed.
	closed bool
	// spacing is how many lines a pod takes.
	spacing int
}

// small reports whether a screen of that width has no room for the three panes side by side.
func small(w int) bool { return w < 80 }

// roomy is the height from which on a board shows its log and what waits longest beside something docked beneath it.
const roomy = 22

// leastWhole is the height from which on a board shows its log and what waits longest at all.
const leastWhole = 13

// outline is that of a board that has all of a room of h lines.
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
	if h < leastWhole || b.Pages.Docked() != nil && h < roomy {
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

// OutlineAbove is that of a board that has a room of h lines above a lesson: the counts tell of the log and of what is
// in flight, where there is no room for all.
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
	if h < leastLogged {
		s.log = 0
	}
	return s
}

// leastLogged is the height from which on a board above a lesson shows its log.
const leastLogged = 8

// logAlone reports whether the log has the board to itself.
func (b *Board) logAlone() bool { return b.Pages.Zoomed && b.focus == logPane }

// parts says where in the board's room everything is. A part that is not shown has no size.
type parts struct {
	spacing   int
	counts    canvas.Rect
	tabTitles canvas.Rect
	// side is where the panes stand side by side, with a column for a frame beside each. What each has of it depends
	// on what it shows: see divide.
	side    canvas.Rect
	closed  bool
	panes   [3]canvas.Rect
	longest canvas.Rect
	flight  canvas.Rect
	log     canvas.Rect
	detail  canvas.Rect
}

// Arrange divides a room of w by h.
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
		p.panes[i] = canvas.At(1, p.side.Y, 0, p.side.H) // as high, and as wide as divide says
	}
	return p
}

// inFrame is what is left of r between the two columns of its frame.
func inFrame(r canvas.Rect) canvas.Rect { return canvas.At(r.X+1, r.Y, max(0, r.W-2), r.H) }

// divide gives each pane the room that what is in sight of it needs, and places its columns there.
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
