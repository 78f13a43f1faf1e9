package board

import "github.com/schedq/schedq/tui/canvas"

// outline says which parts a board has, and how many lines those take whose height does not follow from the rest.
type outline struct {
	// tabs shows one pane at a time, below the titles of all three; wide has the detail of the selected pod beside
	// the log.
	tabs, wide bool
	// counts are the large ones, for a projector.
	counts, flight, log int
	// spacing is how many lines a pod takes.
	spacing int
}

// small reports whether a screen of w by h has no room for the three panes side by side.
func small(w, h int) bool { return w < 80 || h < 24 }

// outline is that of a board that has all of a room of h lines.
func (b *Board) outline(h int) outline {
	s := outline{tabs: small(b.Width, b.Height), flight: 1, spacing: 1}
	s.wide = !s.tabs && b.Width >= 120 && b.Height >= 30
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
		s.log = 5
	case b.Height >= 30:
		s.log = (h - s.counts) * 2 / 5
	default:
		s.log = 6
	}
	return s
}

// OutlineAbove is that of a board that has a room of h lines above a lesson: the counts tell of the log and of what is
// in flight, where there is no room for all.
func (b *Board) OutlineAbove(h int) outline {
	s := outline{tabs: small(b.Width, b.Height), flight: 1, spacing: 1}
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
	return s
}

// logAlone reports whether the log has the board to itself.
func (b *Board) logAlone() bool { return b.Pages.Zoomed && b.focus == logPane }

// parts says where in the board's room everything is. A part that is not shown has no size.
type parts struct {
	spacing   int
	counts    canvas.Rect
	tabTitles canvas.Rect
	panes     [3]canvas.Rect
	flight    canvas.Rect
	log       canvas.Rect
	detail    canvas.Rect
}

// Arrange divides a room of w by h.
func (b *Board) Arrange(w, h int, s outline) parts {
	p := parts{spacing: s.spacing}
	p.counts = canvas.At(0, 0, w, s.counts)
	y := s.counts
	if b.logAlone() {
		p.log = canvas.At(0, y, w, h-y)
		return p
	}
	if s.tabs {
		p.tabTitles = canvas.At(0, y, w, 1)
		y++
	}
	panes := canvas.At(0, y, w, h-y-s.log-s.flight)
	p.flight = canvas.At(0, panes.Y+panes.H, w, s.flight)
	p.log = canvas.At(0, p.flight.Y+s.flight, w, s.log)
	if s.wide && s.log > 0 {
		p.log.W = w * 9 / 16
		p.detail = canvas.At(p.log.W+1, p.log.Y, w-p.log.W-1, s.log)
	}
	if s.tabs || b.Pages.Zoomed {
		p.panes[b.tab] = panes
		return p
	}
	// activeQ needs the least room, the unschedulable pods' plugins the most.
	first, second := (w-2)*26/100, (w-2)*33/100
	p.panes[activePane] = canvas.At(0, panes.Y, first, panes.H)
	p.panes[backoffPane] = canvas.At(first+1, panes.Y, second, panes.H)
	p.panes[unschedulablePane] = canvas.At(first+second+2, panes.Y, w-first-second-2, panes.H)
	return p
}
