package tui

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
)

// A cell of a captured screen, in SVG's units. A monospaced font is 0.6 as wide as it is high.
const (
	cellWidth, cellHeight = 9, 19
	fontSize, baseline    = 15, 14
	margin                = 10
)

// paper is what a screen is drawn on.
type paper struct{ ink, background string }

var (
	darkPaper  = paper{"#d8dee4", "#0d1117"}
	lightPaper = paper{"#1f2328", "#ffffff"}
)

// svg draws what the terminal shows.
func (p *person) svg(on paper) string {
	w, h := p.terminal.Width(), p.terminal.Height()
	var b strings.Builder
	b.WriteString(head(w, h, on))
	fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`+"\n", margin, margin)
	for y := range h {
		if row := svgRow(p.terminal, y, on); row != "" {
			fmt.Fprintf(&b, `<g transform="translate(0,%d)">%s</g>`+"\n", y*cellHeight, row)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// head begins an SVG of a screen of w by h cells.
func head(w, h int, on paper) string {
	width, height := w*cellWidth+2*margin, h*cellHeight+2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d" fill="%s">`+"\n"+
		`<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n",
		width, height, width, fontSize, on.ink, width, height, on.background)
}

// look is how a run of cells is drawn.
type look struct {
	ink, background string // empty: the paper's
	bold, underline bool
}

// svgRow draws row y: runs of text, and lines and blocks as shapes, so that they meet whatever the font.
func svgRow(terminal *vt.Emulator, y int, on paper) string {
	var b strings.Builder
	for x := 0; x < terminal.Width(); {
		l, text, shaped := lookOf(terminal, x, y, on)
		end := x + 1
		for end < terminal.Width() {
			next, more, alsoShaped := lookOf(terminal, end, y, on)
			if next != l || shaped != alsoShaped || shaped && more != text[:len(more)] {
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

func lookOf(terminal *vt.Emulator, x, y int, on paper) (l look, text string, shaped bool) {
	const bold, reverse = 1 << 0, 1 << 5 // ultraviolet's attributes
	c := terminal.CellAt(x, y)
	if c == nil || c.Width == 0 {
		return look{}, "", false
	}
	l = look{ink: hex(c.Style.Fg), background: hex(c.Style.Bg), bold: c.Style.Attrs&bold != 0, underline: c.Style.Underline != 0}
	if c.Style.Attrs&reverse != 0 {
		l.ink, l.background = l.background, l.ink
		if l.ink == "" {
			l.ink = on.background
		}
		if l.background == "" {
			l.background = on.ink
		}
	}
	text = c.Content
	if text == "" {
		text = " "
	}
	return l, text, shape(text) != nil
}

func hex(c color.Color) string {
	if c == nil {
		return ""
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

func drawRun(b *strings.Builder, x, cells int, l look, text string, shaped bool, on paper) {
	left := x * cellWidth
	if l.background != "" {
		fmt.Fprintf(b, `<rect x="%d" width="%d" height="%d" fill="%s"/>`, left, cells*cellWidth, cellHeight, l.background)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if shaped {
		for _, part := range shape(text[:len(text)/cells]) {
			part.draw(b, left, cells, l.ink)
		}
		return
	}
	// Blanks at the ends move nothing.
	trimmed := strings.TrimLeft(text, " ")
	left += (len(text) - len(trimmed)) * cellWidth
	trimmed = strings.TrimRight(trimmed, " ")
	cells -= len(text) - len(trimmed)
	attributes := ""
	if l.ink != "" {
		attributes += fmt.Sprintf(` fill="%s"`, l.ink)
	}
	if l.bold {
		attributes += ` font-weight="bold"`
	}
	if l.underline {
		attributes += ` text-decoration="underline"`
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d"%s>%s</text>`, left, baseline, cells*cellWidth, attributes, html.EscapeString(trimmed))
}

// part is a rectangle of a cell, in eighths of its width and height.
type part struct {
	x, y, w, h float64
	opacity    float64 // 0 is 1
	each       bool    // one in each cell of a run, not one through all
}

func (p part) draw(b *strings.Builder, left, cells int, ink string) {
	fill := ""
	if ink != "" {
		fill = fmt.Sprintf(` fill="%s"`, ink)
	}
	if p.opacity > 0 {
		fill += fmt.Sprintf(` opacity="%g"`, p.opacity)
	}
	width, times := p.w, 1
	if !p.each && p.x == 0 && p.w == 8 {
		width = 8 * float64(cells)
	} else {
		times = cells
	}
	for i := range times {
		fmt.Fprintf(b, `<rect x="%g" y="%g" width="%g" height="%g"%s/>`,
			float64(left+i*cellWidth)+p.x*cellWidth/8, p.y*cellHeight/8, width*cellWidth/8, p.h*cellHeight/8, fill)
	}
}

// shape returns the parts of a line or block, or nil for what a font draws.
func shape(text string) []part {
	const thin, thick = 0.6, 1.2
	across := part{x: 0, y: 4 - thin/4, w: 8, h: thin / 2}
	upright := part{x: 4 - thin/2, y: 0, w: thin, h: 8}
	switch text {
	case "─":
		return []part{across}
	case "━":
		return []part{{x: 0, y: 4 - thick/4, w: 8, h: thick / 2}}
	case "╸":
		return []part{{x: 0, y: 4 - thick/4, w: 4, h: thick / 2}}
	case "═":
		return []part{{x: 0, y: 3.2, w: 8, h: 0.35}, {x: 0, y: 4.4, w: 8, h: 0.35}}
	case "┈":
		return []part{{x: 0.5, y: 4 - thin/4, w: 1, h: thin / 2, each: true}, {x: 3.5, y: 4 - thin/4, w: 1, h: thin / 2, each: true}, {x: 6.5, y: 4 - thin/4, w: 1, h: thin / 2, each: true}}
	case "│":
		return []part{upright}
	case "┃":
		return []part{{x: 4 - thick, y: 0, w: 2 * thick, h: 8}}
	case "┊":
		return []part{{x: 4 - thin/2, y: 0.5, w: thin, h: 1}, {x: 4 - thin/2, y: 2.5, w: thin, h: 1}, {x: 4 - thin/2, y: 4.5, w: thin, h: 1}, {x: 4 - thin/2, y: 6.5, w: thin, h: 1}}
	case "┬":
		return []part{across, {x: 4 - thin/2, y: 4, w: thin, h: 4}}
	case "┼":
		return []part{across, upright}
	case "█":
		return []part{{w: 8, h: 8}}
	case "▌":
		return []part{{w: 4, h: 8, each: true}}
	case "▐":
		return []part{{x: 4, w: 4, h: 8, each: true}}
	case "▀":
		return []part{{w: 8, h: 4}}
	case "▄":
		return []part{{y: 4, w: 8, h: 4}}
	case "▒":
		return []part{{y: 0.8, w: 8, h: 6.4, opacity: 0.55}}
	case "░":
		return []part{{y: 0.8, w: 8, h: 6.4, opacity: 0.25}}
	}
	if i := strings.Index("▁▂▃▄▅▆▇", text); i >= 0 && len(text) == len("▁") {
		n := float64(i/len("▁") + 1)
		return []part{{y: 8 - n, w: 8, h: n}}
	}
	return nil
}

// film is a sequence of screens that becomes one animated SVG. Rows that are the same are drawn once.
type film struct {
	on     paper
	w, h   int
	rows   map[string]int // content → number
	sorted []string       // by number
	frames []filmFrame
}

type filmFrame struct {
	rows    []int
	seconds float64
}

// shoot adds what the terminal shows, for some seconds, with a caption below.
func (f *film) shoot(p *person, seconds float64, caption string) {
	if f.rows == nil {
		f.w, f.h, f.rows = p.terminal.Width(), p.terminal.Height()+2, map[string]int{}
	}
	var frame filmFrame
	for y := range p.terminal.Height() {
		frame.rows = append(frame.rows, f.number(svgRow(p.terminal, y, f.on)))
	}
	said := ""
	if caption != "" {
		said = fmt.Sprintf(`<text x="%d" y="%d" text-anchor="middle" font-weight="bold" fill="#f2b155">%s</text>`, f.w*cellWidth/2, baseline, html.EscapeString(caption))
	}
	frame.rows = append(frame.rows, f.number(""), f.number(said))
	frame.seconds = seconds
	if n := len(f.frames); n > 0 && fmt.Sprint(f.frames[n-1].rows) == fmt.Sprint(frame.rows) {
		f.frames[n-1].seconds += seconds
		return
	}
	f.frames = append(f.frames, frame)
}

func (f *film) number(row string) int {
	n, ok := f.rows[row]
	if !ok {
		n = len(f.sorted)
		f.rows[row] = n
		f.sorted = append(f.sorted, row)
	}
	return n
}

// svg returns the film: its frames stand side by side, and the window moves from one to the next.
func (f *film) svg() string {
	var b strings.Builder
	b.WriteString(head(f.w, f.h, f.on))
	total := 0.0
	for _, frame := range f.frames {
		total += frame.seconds
	}
	step := (f.w + 4) * cellWidth
	b.WriteString("<style>@keyframes film{")
	at := 0.0
	for i, frame := range f.frames {
		fmt.Fprintf(&b, "%.3f%%{transform:translateX(%dpx)}", 100*at/total, -i*step)
		at += frame.seconds
	}
	fmt.Fprintf(&b, "}#film{animation:film %.2fs steps(1,end) infinite}</style>\n<defs>\n", total)
	for n, row := range f.sorted {
		if row != "" {
			fmt.Fprintf(&b, `<g id="r%d">%s</g>`+"\n", n, row)
		}
	}
	fmt.Fprintf(&b, `<clipPath id="c"><rect width="%d" height="%d"/></clipPath></defs>`+"\n", f.w*cellWidth, f.h*cellHeight)
	fmt.Fprintf(&b, `<g transform="translate(%d,%d)" clip-path="url(#c)"><g id="film">`+"\n", margin, margin)
	for i, frame := range f.frames {
		fmt.Fprintf(&b, `<g transform="translate(%d,0)">`, i*step)
		for y, n := range frame.rows {
			if f.sorted[n] != "" {
				fmt.Fprintf(&b, `<use href="#r%d" y="%d"/>`, n, y*cellHeight)
			}
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</g></g>\n</svg>\n")
	return b.String()
}

// wellFormed fails the test unless text is XML.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the capture is no XML: %v", err)
		}
	}
}
