package export

import (
	"fmt"
	"strings"
)

// part is a rectangle of a cell, in eighths of its width and height.
type part struct {
	x, y, w, h float64
	opacity    float64 // 0 means opaque
	each       bool    // repeated in each cell of a run
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
			float64(left+i*CellWidth)+p.x*CellWidth/8, p.y*CellHeight/8, width*CellWidth/8, p.h*CellHeight/8, fill)
	}
}

// shape returns the rectangles of a line or block character, or nil for other characters.
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
	case "┴":
		return []part{across, {x: 4 - thin/2, y: 0, w: thin, h: 4}}
	case "┏":
		return []part{{x: 4 - thick, y: 4 - thick/4, w: 4 + thick, h: thick / 2}, {x: 4 - thick, y: 4, w: 2 * thick, h: 4}}
	case "┓":
		return []part{{x: 0, y: 4 - thick/4, w: 4 + thick, h: thick / 2}, {x: 4 - thick, y: 4, w: 2 * thick, h: 4}}
	case "┗":
		return []part{{x: 4 - thick, y: 4 - thick/4, w: 4 + thick, h: thick / 2}, {x: 4 - thick, y: 0, w: 2 * thick, h: 4}}
	case "┛":
		return []part{{x: 0, y: 4 - thick/4, w: 4 + thick, h: thick / 2}, {x: 4 - thick, y: 0, w: 2 * thick, h: 4}}
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
