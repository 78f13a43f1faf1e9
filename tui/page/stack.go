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
}

// Begin leaves the lowest page alone.
func (p *Pages) Begin(lowest Page) { *p = Pages{stack: []Page{lowest}} }

// Lowest is what Begin left alone.
func (p *Pages) Lowest() Page { return p.stack[0] }

func (p *Pages) Top() Page { return p.stack[len(p.stack)-1] }

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
}

// CloseTop closes what is on top, or else ends the zoom, and returns false if there was nothing to close.
func (p *Pages) CloseTop() bool {
	if p.Covered() {
		p.drop(len(p.stack) - 1)
		return true
	}
	was := p.Zoomed
	p.Zoomed = false
	return was
}

// Clear closes all that is open over the lowest page, and ends the zoom.
func (p *Pages) Clear() {
	p.drop(1)
	p.Zoomed = false
}

// Uncover closes what is open over the lowest page.
func (p *Pages) Uncover() { p.drop(1) }

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

// Shut takes over away.
func (o *Overlays) Shut(over Overlay) {
	o.stack = slices.DeleteFunc(slices.Clone(o.stack), func(each Overlay) bool { return each == over })
}

// All are those that are open, the lowest first.
func (o *Overlays) All() []Overlay { return o.stack }

// Typing reports whether a prompt is open.
func (o *Overlays) Typing() bool {
	return slices.ContainsFunc(o.stack, func(each Overlay) bool { return each.Context() == keymap.Prompt })
}
