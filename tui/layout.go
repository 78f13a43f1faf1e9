package tui

// The smallest terminal that the screen fits into.
const (
	minWidth  = 60
	minHeight = 20
)

// rect is a part of the screen.
type rect struct{ x, y, w, h int }

func (r rect) contains(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// arrangement is what the middle of the screen is made of.
type arrangement uint8

const (
	// tooSmall leaves room for one sentence.
	tooSmall arrangement = iota
	// tabs shows one pane at a time, below the titles of all three.
	tabs
	// columns shows the three panes side by side and the log below.
	columns
	// wide is columns with the detail of the selected pod beside the log.
	wide
)

// zoom is the part that has the whole middle of the screen, if one has.
type zoom uint8

const (
	zoomNone zoom = iota
	zoomPane
	zoomDetail
	zoomCompare
	zoomTimeline
	zoomLanes
	zoomPlots
)

// layout says where everything is. A part that is not shown has no size.
type layout struct {
	arrangement arrangement
	// spacing is how many lines a pod takes.
	spacing   int
	header    []headerLine
	counts    rect // large, for a projector
	tabTitles rect
	panes     [3]rect
	flight    rect
	log       rect
	detail    rect
	compare   rect
	chart     rect
	status    rect
	bar       rect
}

// arrange divides a screen of w by h. focus is the pane that tabs and zoom show.
func arrange(w, h int, fork bool, focus paneID, tab paneID, z zoom, projector bool) layout {
	if w < minWidth || h < minHeight {
		return layout{}
	}
	l := layout{
		arrangement: columns,
		spacing:     1,
		header:      headerLines(h, fork),
		status:      rect{0, h - 2, w, 1},
		bar:         rect{0, h - 1, w, 1},
	}
	if w < 80 || h < 24 {
		l.arrangement = tabs
	} else if w >= 120 && h >= 30 {
		l.arrangement = wide
	}
	y := len(l.header)
	middle := rect{0, y, w, h - 2 - y}
	switch {
	case z == zoomDetail:
		l.detail = middle
		return l
	case z == zoomCompare:
		l.compare = middle
		return l
	case z.chart():
		l.chart = middle
		return l
	case z == zoomPane && focus == logPane:
		l.log = middle
		return l
	}
	if projector && h >= 24 {
		l.counts = rect{0, middle.y, w, largeRows}
		middle.y, middle.h = middle.y+largeRows, middle.h-largeRows
		if h >= 36 {
			l.spacing = 2
		}
	}
	if l.arrangement == tabs {
		l.tabTitles = rect{0, y, w, 1}
		middle.y, middle.h = y+1, middle.h-1
	}
	below := 0
	if z != zoomPane {
		below = 6
		if l.arrangement == tabs {
			below = 5
		} else if h >= 30 {
			below = middle.h * 2 / 5
		}
		if l.counts.h > 0 && h < 30 {
			below = 4
		}
	}
	panes := rect{0, middle.y, w, middle.h - below - 1}
	l.flight = rect{0, panes.y + panes.h, w, 1}
	l.log = rect{0, l.flight.y + 1, w, below}
	if l.arrangement == wide && below > 0 {
		l.log.w = w * 9 / 16
		l.detail = rect{l.log.w + 1, l.log.y, w - l.log.w - 1, below}
	}
	if l.arrangement == tabs || z == zoomPane {
		l.panes[tab] = panes
		return l
	}
	// activeQ needs the least room, the unschedulable pods' plugins the most.
	a := (w - 2) * 29 / 100
	b := (w - 2) * 32 / 100
	l.panes[activePane] = rect{0, panes.y, a, panes.h}
	l.panes[backoffPane] = rect{a + 1, panes.y, b, panes.h}
	l.panes[unschedulablePane] = rect{a + b + 2, panes.y, w - a - b - 2, panes.h}
	return l
}
