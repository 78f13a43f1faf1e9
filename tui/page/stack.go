package page

import (
	"slices"

	"github.com/schedq/schedq/keymap"
)

// Pages is the stack of open pages: the board or a lesson, and the pages opened above it.
type Pages struct {
	stack []Page
	// Zoomed is set while the lowest page shows only one of its parts.
	Zoomed bool
	// dock is shown below the top page. docked is set while it has the keys, back if it gets them again once nothing covers the
	// lowest page.
	dock         Page
	docked, back bool
}

// Begin resets the stack to its lowest page.
func (p *Pages) Begin(lowest Page) { *p = Pages{stack: []Page{lowest}} }

// Lowest returns the lowest page.
func (p *Pages) Lowest() Page { return p.stack[0] }

// Top returns the page that has the keys: the docked page or the highest one.
func (p *Pages) Top() Page {
	if p.docked {
		return p.dock
	}
	return p.Shown()
}

// Shown returns the highest page.
func (p *Pages) Shown() Page { return p.stack[len(p.stack)-1] }

// Dock shows d below the top page until it is closed. The keys stay where they are.
func (p *Pages) Dock(d Page) { p.dock = d }

// Docked returns the docked page, or nil.
func (p *Pages) Docked() Page { return p.dock }

// DockFocused reports whether the docked page has the keys.
func (p *Pages) DockFocused() bool { return p.docked }

// FocusDock gives the keys to the docked page, if there is one.
func (p *Pages) FocusDock() { p.docked, p.back = p.dock != nil, false }

// Covered reports whether a page is open above the lowest.
func (p *Pages) Covered() bool { return len(p.stack) > 1 }

// InChart reports whether a chart has the keys.
func (p *Pages) InChart() bool { return p.Top().Context() == keymap.Chart }

// Open moves over to the top of the stack. Closing it returns to the page below.
func (p *Pages) Open(over Page) {
	if i := slices.Index(p.stack, over); i > 0 {
		p.stack = slices.Delete(p.stack, i, i+1)
	}
	p.stack = append(p.stack, over)
	p.docked, p.back = false, p.back || p.docked
}

// CloseTop closes the page that has the keys, or ends the zoom, or closes the docked page. It returns false if there is
// nothing to close.
func (p *Pages) CloseTop() bool {
	switch {
	case p.docked:
		p.undock()
	case p.Covered():
		p.drop(len(p.stack) - 1)
		if !p.Covered() {
			p.docked, p.back = p.back, false
		}
	case p.Zoomed:
		p.Zoomed = false
	case p.dock != nil:
		p.undock()
	default:
		return false
	}
	return true
}

// Close closes a page, docked or not, and all pages above it.
func (p *Pages) Close(page Page) {
	if p.dock == page {
		p.undock()
	}
	if i := slices.Index(p.stack, page); i > 0 {
		p.drop(i)
	}
}

func (p *Pages) undock() { p.dock, p.docked, p.back = nil, false, false }

// Clear closes all pages above the lowest and ends the zoom.
func (p *Pages) Clear() {
	p.Uncover()
	p.Zoomed = false
}

// Uncover closes all pages above the lowest and gives it the keys.
func (p *Pages) Uncover() {
	p.drop(1)
	p.docked, p.back = false, false
}

func (p *Pages) drop(from int) {
	for _, each := range p.stack[from:] {
		if c, ok := each.(closer); ok {
			c.Closed()
		}
	}
	p.stack = p.stack[:from]
}

// Overlays is the stack of open overlays. The last one gets the keys.
type Overlays struct{ stack []Overlay }

// Top returns the overlay that gets the keys, or nil.
func (o *Overlays) Top() Overlay {
	if len(o.stack) == 0 {
		return nil
	}
	return o.stack[len(o.stack)-1]
}

// Open shows over, in place of another overlay with the same context.
func (o *Overlays) Open(over Overlay) {
	for i, other := range o.stack {
		if other.Context() == over.Context() {
			o.stack[i] = over
			return
		}
	}
	if top := o.Top(); top != nil && top.Context() == keymap.Prompt { // typing goes on in the prompt
		o.stack = []Overlay{over, top}
		return
	}
	o.stack = append(o.stack, over)
}

// Close closes over.
func (o *Overlays) Close(over Overlay) {
	o.stack = slices.DeleteFunc(slices.Clone(o.stack), func(each Overlay) bool { return each == over })
}

// All returns the open overlays, the lowest first.
func (o *Overlays) All() []Overlay { return o.stack }

// Typing reports whether a prompt is open.
func (o *Overlays) Typing() bool {
	return slices.ContainsFunc(o.stack, func(each Overlay) bool { return each.Context() == keymap.Prompt })
}
