package widget

import (
	"math"

	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// Spark draws values as bars, to an eighth of a cell; top is the full height. Values above 0 are always visible, NaN never.
func Spark(a canvas.Area, style canvas.Style, values []float64, top float64) {
	for x, value := range values {
		switch {
		case math.IsNaN(value):
			continue
		case value <= 0 || top <= 0:
			a.Text(x, a.H-1, theme.Dim, "_")
			continue
		}
		eighths := max(1, int(math.Round(value/top*float64(8*a.H))))
		for y := a.H - 1; eighths > 0; y-- {
			a.Text(x, y, style, blocks(eighths))
			eighths -= 8
		}
	}
}

// blocks draws a bar of up to eight eighths of a cell.
func blocks(eighths int) string { return format.Level(float64(min(eighths, 8)-1)/8 + 1.0/16) }

// Max returns the greatest value, or 0.
func Max(values []float64) float64 {
	top := 0.0
	for _, v := range values {
		if v > top {
			top = v
		}
	}
	return top
}
