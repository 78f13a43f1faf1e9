// Package canvas is a grid of cells that pages draw into and that becomes one styled string. Drawing is clipped to its area, so
// no pane can disturb another, whatever the text.
package canvas

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Style is the number of a colour in a Palette, with attributes added.
type Style uint8

// Attributes of a Style. The numbers below Bold are colours.
const (
	Bold Style = 1 << (iota + 5)
	Underline
	Reverse
)

// Colors is the number of colours in a Palette.
const Colors = int(Bold)

// cell is one position on the screen. The cell to the right of a wide one has no text.
type cell struct {
	text  string
	style Style
}

// Canvas is a grid of cells.
type Canvas struct {
	w, h  int
	cells []cell
	out   []byte
}

// Reset makes c blank, w by h cells in size. It reuses the memory.
func (c *Canvas) Reset(w, h int) {
	c.w, c.h = w, h
	if cap(c.cells) < w*h {
		c.cells = make([]cell, w*h)
	}
	c.cells = c.cells[:w*h]
	for i := range c.cells {
		c.cells[i] = cell{text: " "}
	}
}

// Area returns the whole of c.
func (c *Canvas) Area() Area { return Area{canvas: c, W: c.w, H: c.h} }

// Translate replaces the text of a cell that is not ASCII with text of the same width.
type Translate func(text string) string

// String returns the rows of c, joined by newlines, styled by p. translate may be nil.
func (c *Canvas) String(p *Palette, translate Translate) string {
	out := c.out[:0]
	for y := range c.h {
		if y > 0 {
			out = append(out, '\n')
		}
		var style Style
		for _, cell := range c.row(y) {
			if cell.style != style {
				if style != 0 {
					out = append(out, ansi.ResetStyle...)
				}
				style = cell.style
				out = append(out, p[style]...)
			}
			text := cell.text
			if translate != nil && text != "" && text[0] >= utf8.RuneSelf {
				text = translate(text)
			}
			out = append(out, text...)
		}
		if style != 0 {
			out = append(out, ansi.ResetStyle...)
		}
	}
	c.out = out
	return string(out)
}

// row returns the cells of row y without the blank end.
func (c *Canvas) row(y int) []cell {
	row := c.cells[y*c.w : (y+1)*c.w]
	blank := cell{text: " "}
	for len(row) > 0 && row[len(row)-1] == blank {
		row = row[:len(row)-1]
	}
	return row
}

// Palette holds the escape sequence that starts each Style.
type Palette [1 << 8]string
