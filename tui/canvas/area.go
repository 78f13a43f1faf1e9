package canvas

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Area is a rectangle of a canvas with its own coordinates. Drawing is clipped to it.
type Area struct {
	canvas *Canvas
	x, y   int
	// W and H are the size.
	W, H int
}

// Sub returns the part of a at x, y of at most w by h cells.
func (a Area) Sub(x, y, w, h int) Area {
	x, y = min(max(x, 0), a.W), min(max(y, 0), a.H)
	return Area{canvas: a.canvas, x: a.x + x, y: a.y + y, W: min(max(w, 0), a.W-x), H: min(max(h, 0), a.H-y)}
}

// Row returns row y of a.
func (a Area) Row(y int) Area { return a.Sub(0, y, a.W, 1) }

// Empty reports whether a has no cells.
func (a Area) Empty() bool { return a.W <= 0 || a.H <= 0 }

// Text draws s at x in row y, clipped at the right border, and returns the column after it.
func (a Area) Text(x, y int, style Style, s string) int {
	if y < 0 || y >= a.H || x < 0 {
		return x
	}
	row := a.canvas.cells[(a.y+y)*a.canvas.w+a.x:][:a.W]
	start := x
	for len(s) > 0 && x < a.W {
		cluster, width := firstCluster(s)
		s = s[len(cluster):]
		if width == 0 {
			cluster, width = "\uFFFD", 1
		}
		if x+width > a.W {
			cluster, width = " ", 1
		}
		row[x] = cell{cluster, style}
		if width == 2 {
			row[x+1] = cell{"", style}
		}
		x += width
	}
	a.tear(start, min(x, a.W), y)
	return x
}

// tear blanks the remaining halves of wide letters that columns x to end of row y have overwritten.
func (a Area) tear(x, end, y int) {
	if x >= end {
		return
	}
	row := a.canvas.cells[(a.y+y)*a.canvas.w:][:a.canvas.w]
	x, end = a.x+x, a.x+end
	if x > 0 && row[x].text != "" && Width(row[x-1].text) == 2 {
		row[x-1].text = " "
	}
	if end < len(row) && row[end].text == "" {
		row[end].text = " "
	}
}

// Right draws s so that it ends before x, and returns where it starts.
func (a Area) Right(x, y int, style Style, s string) int {
	start := x - Width(s)
	a.Text(start, y, style, s)
	return start
}

// Blank reports whether the cell at x, y is empty.
func (a Area) Blank(x, y int) bool {
	if x < 0 || y < 0 || x >= a.W || y >= a.H {
		return false
	}
	return a.canvas.cells[(a.y+y)*a.canvas.w+a.x+x].text == " "
}

// Fill draws s, which is one cell wide, in every cell of a.
func (a Area) Fill(style Style, s string) {
	for y := range a.H {
		row := a.canvas.cells[(a.y+y)*a.canvas.w+a.x:][:a.W]
		for x := range row {
			row[x] = cell{s, style}
		}
		a.tear(0, a.W, y)
	}
}

// Restyle sets the style of all cells of a and keeps their text.
func (a Area) Restyle(style Style) {
	for y := range a.H {
		row := a.canvas.cells[(a.y+y)*a.canvas.w+a.x:][:a.W]
		for x := range row {
			row[x].style = style
		}
	}
}

// Width returns how many cells s takes.
func Width(s string) int {
	n := 0
	for len(s) > 0 {
		cluster, width := firstCluster(s)
		n += max(width, 1)
		s = s[len(cluster):]
	}
	return n
}

// firstCluster returns the first grapheme cluster of s and its width: 1 or 2, or 0 where terminals disagree: controls, marks
// without a letter before them, emoji made of several.
func firstCluster(s string) (cluster string, width int) {
	if n := plain(s); n > 0 {
		return s[:n], 1
	}
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1], 0 // a control character
	}
	return anyCluster(s)
}

// anyCluster is firstCluster without its fast path.
func anyCluster(s string) (cluster string, width int) {
	cluster, width = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if width < 1 || width > 2 || len(cluster) > 16 || !utf8.ValidString(cluster) || ansi.StringWidthWc(cluster) != width {
		width = 0
	}
	return cluster, width
}

// plain returns the length in bytes of the first cluster of s if the next byte alone shows that it is one cell wide, and otherwise
// 0. That covers printable ASCII, lines and blocks, which is most of a screen, without Unicode's tables.
func plain(s string) int {
	n := 1
	switch {
	case s[0] >= ' ' && s[0] < 0x7f:
	case lineOrBlock(s):
		n = len("─")
	default:
		return 0
	}
	if len(s) == n || s[n] < utf8.RuneSelf || lineOrBlock(s[n:]) { // nothing that combines with it
		return n
	}
	return 0
}

// lineOrBlock reports whether s starts with one of U+2500 to U+259F, which lines, bars and plots use.
func lineOrBlock(s string) bool {
	if len(s) < len("─") || s[0] != "─"[0] || s[2] < 0x80 || s[2] > 0xbf {
		return false
	}
	return s[1] == "─"[1] || s[1] == "═"[1] || s[1] == "▀"[1] && s[2] <= "▟"[2]
}
