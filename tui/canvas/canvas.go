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

// Links are the addresses of words, which consist of ASCII letters and begin with a capital.
type Links map[string]string

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
func (c *Canvas) String(p *Palette, translate Translate) string { return c.Linked(p, translate, nil) }

// Linked is String with a hyperlink (OSC 8) on each word that has one in links. The cells are the same.
func (c *Canvas) Linked(p *Palette, translate Translate, links Links) string {
	out := c.out[:0]
	for y := range c.h {
		if y > 0 {
			out = append(out, '\n')
		}
		var style Style
		row := c.row(y)
		linked := 0 // the end of the link that was begun
		for x, cell := range row {
			if linked > 0 && x == linked {
				out, linked = append(out, endLink...), 0
			}
			if linked == 0 && links != nil && (x == 0 || !letter(row[x-1])) {
				if to, n := links.at(row[x:]); n > 0 {
					out, linked = append(out, ansi.SetHyperlink(to)...), x+n
				}
			}
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
		if linked > 0 {
			out = append(out, endLink...)
		}
		if style != 0 {
			out = append(out, ansi.ResetStyle...)
		}
	}
	c.out = out
	return string(out)
}

var endLink = ansi.ResetHyperlink()

// longestLink limits the words that are looked up among the links.
const longestLink = 64

// at returns the address of the word with which row begins, and its length, if it has one.
func (l Links) at(row []cell) (to string, n int) {
	if len(row) == 0 || len(row[0].text) != 1 || row[0].text[0] < 'A' || row[0].text[0] > 'Z' {
		return "", 0
	}
	var word [longestLink]byte
	for n < len(row) && n < len(word) && letter(row[n]) {
		word[n] = row[n].text[0]
		n++
	}
	if to = l[string(word[:n])]; to == "" || n < len(row) && letter(row[n]) {
		return "", 0
	}
	return to, n
}

// letter reports whether a cell has an ASCII letter.
func letter(c cell) bool {
	return len(c.text) == 1 && (c.text[0] >= 'a' && c.text[0] <= 'z' || c.text[0] >= 'A' && c.text[0] <= 'Z')
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
