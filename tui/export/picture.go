package export

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// The size of a cell in SVG units. A monospaced font is 0.6 times as wide as high.
const (
	CellWidth, CellHeight = 9, 19
	fontSize, Baseline    = 15, 14
	Margin                = 10
)

// Paper has the default text and background colours.
type Paper struct{ Ink, Background string }

// Dark returns the colours of a dark terminal, and Light of a light one.
func Dark() Paper  { return Paper{"#d8dee4", "#0d1117"} }
func Light() Paper { return Paper{"#1f2328", "#ffffff"} }

// PictureScreen is a grid of cells.
type PictureScreen interface {
	Width() int
	Height() int
	// CellAt returns the cell at column x of row y, or nil if it is empty.
	CellAt(x, y int) *uv.Cell
}

// DrawPicture returns terminal output of w by h cells as SVG.
func DrawPicture(drawn string, w, h int, on Paper) string {
	screen := uv.NewScreenBuffer(w, h)
	uv.NewStyledString(drawn).Draw(screen, screen.Bounds())
	return SVG(screen, on)
}

// SVG draws a screen.
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

// PictureHead returns the start of an SVG of w by h cells.
func PictureHead(w, h int, on Paper) string {
	width, height := w*CellWidth+2*Margin, h*CellHeight+2*Margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d" fill="%s">`+"\n"+
		`<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n",
		width, height, width, fontSize, on.Ink, width, height, on.Background)
}

// PictureLook is the style of a cell. Colours have the form #79b8ff; empty means the default.
type PictureLook struct {
	Ink, Background string
	Bold, Underline bool
}

// PictureRow draws row y: runs of text, and lines and blocks as shapes, so that they join in any
// font.
func PictureRow(screen PictureScreen, y int, on Paper) string {
	var b strings.Builder
	for x := 0; x < screen.Width(); {
		l, text := LookAt(screen, x, y, on)
		shaped := shape(text) != nil
		end := x + 1
		for end < screen.Width() {
			if c := screen.CellAt(end, y); c != nil && c.Width == 0 { // second half of a wide character
				end++
				continue
			}
			next, more := LookAt(screen, end, y, on)
			if next != l || shaped != (shape(more) != nil) || shaped && more != text[:len(more)] {
				break
			}
			// Some SVG renderers collapse spaces.
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

// LookAt returns the style and the content of the cell at column x of row y. The content is empty
// for an empty cell and for the second half of a wide character.
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
	// Trim spaces at both ends.
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
