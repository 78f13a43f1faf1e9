package tui

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"
	"testing"

	"github.com/schedq/schedq/tui/export"
)

// svg returns the terminal's screen as SVG.
func (p *person) svg(on export.Paper) string { return export.SVG(p.terminal, on) }

// film is a sequence of screens for one animated SVG. Equal rows are drawn once.
type film struct {
	on     export.Paper
	w, h   int
	rows   map[string]int // content → number
	sorted []string       // by number
	frames []filmFrame
	tape   *tape // records the same frames if not nil
}

type filmFrame struct {
	rows    []int
	seconds float64
}

// shoot adds the current screen for that many seconds, with a caption below.
func (f *film) shoot(p *person, seconds float64, caption string) {
	if f.tape != nil {
		f.tape.shoot(seconds, caption)
	}
	if f.rows == nil {
		f.w, f.h, f.rows = p.terminal.Width(), p.terminal.Height()+2, map[string]int{}
	}
	var frame filmFrame
	for y := range p.terminal.Height() {
		frame.rows = append(frame.rows, f.number(export.PictureRow(p.terminal, y, f.on)))
	}
	said := ""
	if caption != "" {
		said = fmt.Sprintf(`<text x="%d" y="%d" text-anchor="middle" font-weight="bold" fill="#f2b155">%s</text>`, f.w*export.CellWidth/2, export.Baseline, html.EscapeString(caption))
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

// svg returns the film: the frames are side by side, and the window moves from one to the next.
func (f *film) svg() string {
	var b strings.Builder
	b.WriteString(export.PictureHead(f.w, f.h, f.on))
	total := 0.0
	for _, frame := range f.frames {
		total += frame.seconds
	}
	step := (f.w + 4) * export.CellWidth
	b.WriteString("<style>@keyframes film{")
	at := 0.0
	for i, frame := range f.frames {
		fmt.Fprintf(&b, "%.3f%%{transform:translateX(%dpx)}", 100*at/total, -i*step)
		at += frame.seconds
	}
	fmt.Fprintf(&b, "}#film{animation:film %.2fs steps(1,end) infinite}@media(prefers-reduced-motion:reduce){#film{animation:none}}</style>\n<defs>\n", total)
	for n, row := range f.sorted {
		if row != "" {
			fmt.Fprintf(&b, `<g id="r%d">%s</g>`+"\n", n, row)
		}
	}
	fmt.Fprintf(&b, `<clipPath id="c"><rect width="%d" height="%d"/></clipPath></defs>`+"\n", f.w*export.CellWidth, f.h*export.CellHeight)
	fmt.Fprintf(&b, `<g transform="translate(%d,%d)" clip-path="url(#c)"><g id="film">`+"\n", export.Margin, export.Margin)
	for i, frame := range f.frames {
		fmt.Fprintf(&b, `<g transform="translate(%d,0)">`, i*step)
		for y, n := range frame.rows {
			if f.sorted[n] != "" {
				fmt.Fprintf(&b, `<use href="#r%d" y="%d"/>`, n, y*export.CellHeight)
			}
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</g></g>\n</svg>\n")
	return b.String()
}

// wellFormed fails the test unless text is well-formed XML.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the capture is not XML: %v", err)
		}
	}
}
