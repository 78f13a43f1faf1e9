package export

// Package picture draws screens as SVG: text as text, lines and blocks as shapes that meet whatever the font.

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// A cell of a captured screen, in SVG's units. A monospaced font is 0.6 as wide as it is high.
const (
	CellWidth, CellHeight = 9, 19
	fontSize, Baseline    = 15, 14
	Margin                = 10
)

// Paper is what a screen is drawn on.
type Paper struct{ Ink, Background string }

// Dark is the paper of a dark terminal, and Light of a light one.
func Dark() Paper  { return Paper{"#d8dee4", "#0d1117"} }
func Light() Paper { return Paper{"#1f2328", "#ffffff"} }

// Screen is a grid of cells, as terminals and what is drawn for them have it.
type PictureScreen interface {
	Width() int
	Height() int
	// CellAt is the cell at column x of row y, or nil where nothing is.
	CellAt(x, y int) *uv.Cell
}

// Draw writes what a program draws for a terminal of w by h cells as SVG.
func DrawPicture(drawn string, w, h int, on Paper) string {
	screen := uv.NewScreenBuffer(w, h)
	uv.NewStyledString(drawn).Draw(screen, screen.Bounds())
	return SVG(screen, on)
}

// SVG draws what the screen shows.
func SVG(screen PictureScreen, on Paper) string {
	w, h := screen.Width(), screen.Height()
	var b strings.Builder
	b.WriteString(PictureHead(w, h, on))
	fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`+"\n", Margin, Margin)
	for y := range h {
		if row := PictureRow(screen, y, on); row != "" {
			fmt.Fprintf(&b, `<g transform="translate(0,%d)">%s</g>`+"\n", y*CellHeight, row)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// Head begins an SVG of a screen of w by h cells.
func PictureHead(w, h int, on Paper) string {
	width, height := w*CellWidth+2*Margin, h*CellHeight+2*Margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d" fill="%s">`+"\n"+
		`<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n",
		width, height, width, fontSize, on.Ink, width, height, on.Background)
}

// Look is how a cell is drawn. Colours are written as in #79b8ff; an empty one is the paper's.
type PictureLook struct {
	Ink, Background string
	Bold, Underline bool
}

// Row draws row y: runs of text, and lines and blocks as shapes, so that they meet whatever the font.
func PictureRow(screen PictureScreen, y int, on Paper) string {
	var b strings.Builder
	for x := 0; x < screen.Width(); {
		l, text := LookAt(screen, x, y, on)
		shaped := shape(text) != nil
		end := x + 1
		for end < screen.Width() {
			if c := screen.CellAt(end, y); c != nil && c.Width == 0 { // the other half of a wide letter
				end++
				continue
			}
			next, more := LookAt(screen, end, y, on)
			if next != l || shaped != (shape(more) != nil) || shaped && more != text[:len(more)] {
				break
			}
			// Not all that draw SVG keep several blanks.
			if more == " " && strings.HasSuffix(text, " ") != (strings.TrimSpace(text) == "") || more != " " && strings.HasSuffix(text, "  ") {
				break
			}
			text += more
			end++
		}
		drawRun(&b, x, end-x, l, text, shaped, on)
		x = end
	}
	return b.String()
}

// LookAt returns how the cell at column x of row y is drawn, and what is in it: empty where nothing is, as in the other half of a
// wide letter.
func LookAt(screen PictureScreen, x, y int, on Paper) (l PictureLook, text string) {
	c := screen.CellAt(x, y)
	if c == nil || c.Width == 0 {
		return PictureLook{}, ""
	}
	l = PictureLook{Ink: hex(c.Style.Fg), Background: hex(c.Style.Bg), Bold: c.Style.Attrs&uv.AttrBold != 0, Underline: c.Style.Underline != 0}
	if c.Style.Attrs&uv.AttrReverse != 0 {
		l.Ink, l.Background = cmp.Or(l.Background, on.Background), cmp.Or(l.Ink, on.Ink)
	}
	return l, cmp.Or(c.Content, " ")
}

func hex(c color.Color) string {
	if c == nil {
		return ""
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

func drawRun(b *strings.Builder, x, cells int, l PictureLook, text string, shaped bool, on Paper) {
	left := x * CellWidth
	if l.Background != "" {
		fmt.Fprintf(b, `<rect x="%d" width="%d" height="%d" fill="%s"/>`, left, cells*CellWidth, CellHeight, l.Background)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if shaped {
		for _, part := range shape(text[:len(text)/cells]) {
			part.draw(b, left, cells, l.Ink)
		}
		return
	}
	// Blanks at the ends move nothing.
	trimmed := strings.TrimLeft(text, " ")
	left += (len(text) - len(trimmed)) * CellWidth
	trimmed = strings.TrimRight(trimmed, " ")
	cells -= len(text) - len(trimmed)
	attributes := ""
	if l.Ink != "" {
		attributes += fmt.Sprintf(` fill="%s"`, l.Ink)
	}
	if l.Bold {
		attributes += ` font-weight="bold"`
	}
	if l.Underline {
		attributes += ` text-decoration="underline"`
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d"%s>%s</text>`, left, Baseline, cells*CellWidth, attributes, html.EscapeString(trimmed))
}
