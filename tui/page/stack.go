package page

import (
	"slices"

	"github.com/schedq/schedq/keymap"
)

// Pages are what is open, one above the other: the board, or the lesson around it, and what was opened over it.
type Pages struct {
	stack []Page
	// Zoomed is true while the lowest page shows one of its parts alone.
	Zoomed bool
	// dock stands beneath what is on top. Keys are about it if docked, and will be once nothing covers the lowest page
	// if back.
	dock         Page
	docked, back bool
}

// Begin leaves the lowest page alone.
func (p *Pages) Begin(lowest Page) { *p = Pages{stack: []Page{lowest}} }

// Lowest is what Begin left alone.
func (p *Pages) Lowest() Page { return p.stack[0] }

// Top is the page that keys are about: the docked one, or the one that is on top of the others.
func (p *Pages) Top() Page {
	if p.docked {
		return p.dock
	}
	return p.Shown()
}

// Shown is the page that is on top of the others.
func (p *Pages) Shown() Page { return p.stack[len(p.stack)-1] }

// Dock has d stand beneath what is on top until it is closed. Keys stay with what they are about.
func (p *Pages) Dock(d Page) { p.dock = d }

// Docked is the page that stands beneath what is on top, or nil.
func (p *Pages) Docked() Page { return p.dock }

// DockFocused reports whether keys are about the docked page.
func (p *Pages) DockFocused() bool { return p.docked }

// FocusDock has keys be about the docked page, if there is one.
func (p *Pages) FocusDock() { p.docked, p.back = p.dock != nil, false }

// Covered reports whether something is open over the lowest page.
func (p *Pages) Covered() bool { return len(p.stack) > 1 }

// InChart reports whether a chart is on top.
func (p *Pages) InChart() bool { return p.Top().Context() == keymap.Chart }

// Open puts over on top, from wherever in the stack it is. What was on top stays beneath: closing goes back to it.
func (p *Pages) Open(over Page) {
	if i := slices.Index(p.stack, over); i > 0 {
		p.stack = slices.Delete(p.stack, i, i+1)
	}
	p.stack = append(p.stack, over)
	p.docked, p.back = false, p.back || p.docked
}

// CloseTop closes the page that keys are about, or else ends the zoom, or else closes the docked page. It returns false
// if there was nothing to close.
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

func (p *Pages) undock() { p.dock, p.docked, p.back = nil, false, false }

// Clear closes all that is open over the lowest page, and ends the zoom.
func (p *Pages) Clear() {
	p.Uncover()
	p.Zoomed = false
}

// Uncover closes what is open over the lowest page, and has keys be about that.
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

// Overlays are what is open above the page, one above the other. The last gets the keys.
type Overlays struct{ stack []Overlay }

// Top is the one that gets the keys, or nil.
func (o *Overlays) Top() Overlay {
	if len(o.stack) == 0 {
		return nil
	}
	return o.stack[len(o.stack)-1]
}

// Open shows over, in the place of another of its kind.
func (o *Overlays) Open(over Overlay) {
	for i, other := range o.stack {
		if other.Context() == over.Context() {
			o.stack[i] = over
			return
		}
	}
	if top := o.Top(); top != nil && top.Context() == keymap.Prompt { // who types is not disturbed
		o.stack = []Overlay{over, top}
		return
	}
	o.stack = append(o.stack, over)
}

// Close takes over away.
func (o *Overlays) Close(over Overlay) {
	o.stack = slices.DeleteFunc(slices.Clone(o.stack), func(each Overlay) bool { return each == over })
}

// All are those that are open, the lowest first.
func (o *Overlays) All() []Overlay { return o.stack }

// Typing reports whether a prompt is open.
func (o *Overlays) Typing() bool {
	return slices.ContainsFunc(o.stack, func(each Overlay) bool { return each.Context() == keymap.Prompt })
}
