package canvas

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// NewPalette returns a palette of the given colours. Colour 0, and colours that are nil, are the terminal's default.
func NewPalette(colors [Colors]color.Color) *Palette {
	var p Palette
	for i := range p {
		s, style := ansi.Style{}, Style(i)
		if c := colors[i%Colors]; c != nil {
			s = s.ForegroundColor(c)
		}
		if style&Bold != 0 {
			s = s.Bold()
		}
		if style&Underline != 0 {
			s = s.Underline(true)
		}
		if style&Reverse != 0 {
			s = s.Reverse(true)
		}
		if len(s) > 0 {
			p[i] = s.String()
		}
	}
	return &p
}
