package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/canvas"
)

// The colours by meaning. None of them is the only cue.
const (
	Plain canvas.Style = iota
	Dim
	Accent
	Active
	Backoff
	Unschedulable
	Gated
	InFlight
	Scheduled
	WhatIf
	Alarm
)

// Chosen is the style of the row that the keys act on.
const Chosen = Accent | canvas.Reverse

// Theme names a set of colours.
type Theme string

// The themes. Those without a background in their name have colours for both, and ask the terminal.
const (
	Auto         Theme = "auto"
	Dark         Theme = "dark"
	Light        Theme = "light"
	HighContrast Theme = "high-contrast"
	ColorBlind   Theme = "colour-blind"
	None         Theme = "none"
)

// All returns all built-in themes in the order in which they are offered.
func All() []Theme {
	return []Theme{Auto, Dark, Light, HighContrast, ColorBlind, None}
}

// shades are a colour on light and on dark backgrounds.
type shades struct{ light, dark string }

// standard returns the default colours.
func standard() map[canvas.Style]shades {
	return map[canvas.Style]shades{
		Dim:           {"#6e6e6e", "#8a8a8a"},
		Accent:        {"#0550ae", "#79b8ff"},
		Active:        {"#116329", "#7ee787"},
		Backoff:       {"#8a4600", "#f2b155"},
		Unschedulable: {"#b3261e", "#ff9a91"},
		Gated:         {"#6639ba", "#c9a8ff"},
		InFlight:      {"#00616b", "#6fd6e0"},
		Scheduled:     {"#116329", "#7ee787"},
		WhatIf:        {"#99154b", "#ff8ac0"},
		Alarm:         {"#a40e26", "#ff7b72"},
	}
}

// highContrast returns colours with a contrast of at least 7:1, dim text included.
func highContrast() map[canvas.Style]shades {
	return map[canvas.Style]shades{
		Dim:           {"#4a4a4a", "#c0c0c0"},
		Accent:        {"#003c8f", "#9ecbff"},
		Active:        {"#00501b", "#8dff9a"},
		Backoff:       {"#6b3000", "#ffd000"},
		Unschedulable: {"#8f0010", "#ffb3ad"},
		Gated:         {"#4b1a9e", "#dcc6ff"},
		InFlight:      {"#004a52", "#7df5ff"},
		Scheduled:     {"#00501b", "#8dff9a"},
		WhatIf:        {"#7a0a3c", "#ffaad4"},
		Alarm:         {"#8a0000", "#ffa8a0"},
	}
}

// colorBlind returns colours that differ in lightness and between blue and yellow, which every common kind of colour blindness
// distinguishes. They follow Okabe and Ito's palette.
func colorBlind() map[canvas.Style]shades {
	return map[canvas.Style]shades{
		Dim:           {"#6e6e6e", "#8a8a8a"},
		Accent:        {"#00547f", "#8fd0ff"},
		Active:        {"#0072b2", "#56b4e9"},
		Backoff:       {"#8a6a00", "#f0e442"},
		Unschedulable: {"#801f00", "#ff8a3d"},
		Gated:         {"#8a3a6b", "#e6a6cb"},
		InFlight:      {"#000000", "#ffffff"},
		Scheduled:     {"#0072b2", "#56b4e9"},
		WhatIf:        {"#8a3a6b", "#e6a6cb"},
		Alarm:         {"#801f00", "#ff8a3d"},
	}
}

// ofSixteen returns the colours for terminals with sixteen colours, on light and dark backgrounds. The nearest matches of the other
// palettes would draw backoffQ and unschedulable in the same red.
func ofSixteen(colorBlind bool) map[canvas.Style][2]color.Color {
	set := map[canvas.Style][2]color.Color{
		Dim:           {ansi.BrightBlack, ansi.BrightBlack},
		Accent:        {ansi.Blue, ansi.BrightBlue},
		Active:        {ansi.Green, ansi.BrightGreen},
		Backoff:       {ansi.Yellow, ansi.BrightYellow},
		Unschedulable: {ansi.Red, ansi.BrightRed},
		Gated:         {ansi.Magenta, ansi.Magenta},
		InFlight:      {ansi.Cyan, ansi.BrightCyan},
		Scheduled:     {ansi.Green, ansi.BrightGreen},
		WhatIf:        {ansi.BrightMagenta, ansi.BrightMagenta},
		Alarm:         {ansi.Red, ansi.BrightRed},
	}
	if colorBlind { // no green next to red or yellow
		set[Accent] = [2]color.Color{ansi.Cyan, ansi.BrightCyan}
		set[Active] = [2]color.Color{ansi.Blue, ansi.BrightBlue}
		set[Scheduled] = set[Active]
		set[InFlight] = [2]color.Color{ansi.Black, ansi.BrightWhite}
	}
	return set
}

// NewPalette returns the colours of t for a dark or a light background. For a projector, which washes colours out, all text is bold
// and none is dim. sixteen is set for terminals with sixteen colours.
func NewPalette(t Theme, dark, projector, sixteen bool) *canvas.Palette {
	return paletteOf(colorsOf(t, dark, projector, sixteen), projector)
}

// colorsOf returns the colours of a built-in theme by style.
func colorsOf(t Theme, dark, projector, sixteen bool) (colors [canvas.Colors]color.Color) {
	set := standard()
	switch t {
	case Dark:
		dark = true
	case Light:
		dark = false
	case HighContrast:
		set = highContrast()
	case ColorBlind:
		set = colorBlind()
	case None:
		set = nil
	}
	if projector && (t == Auto || t == Dark || t == Light) {
		set = highContrast()
	}
	pick := lipgloss.LightDark(dark)
	if sixteen && set != nil {
		set = nil
		for style, pair := range ofSixteen(t == ColorBlind) {
			colors[style] = pick(pair[0], pair[1])
		}
	}
	for style, pair := range set {
		colors[style] = pick(lipgloss.Color(pair.light), lipgloss.Color(pair.dark))
	}
	return colors
}

// paletteOf returns the escape sequences of the colours; for a projector all are bold.
func paletteOf(colors [canvas.Colors]color.Color, projector bool) *canvas.Palette {
	p := canvas.NewPalette(colors)
	if projector {
		for style := range p {
			p[style] = p[style|int(canvas.Bold)]
		}
	}
	return p
}

// Tier returns the colour of a tier.
func Tier(tier queue.Tier) canvas.Style {
	switch tier {
	case queue.Active:
		return Active
	case queue.Backoff:
		return Backoff
	case queue.Unschedulable:
		return Unschedulable
	case queue.Gated:
		return Gated
	case queue.InFlight:
		return InFlight
	case queue.Scheduled:
		return Scheduled
	default:
		return Dim
	}
}

// TierName returns upstream's name of the tier, as used within a sentence.
func TierName(tier queue.Tier) string {
	switch tier {
	case queue.Active:
		return "activeQ"
	case queue.Backoff:
		return "backoffQ"
	case queue.InFlight:
		return "in-flight"
	case queue.Scheduled:
		return "bound"
	case queue.None:
		return "new"
	default:
		return tier.String()
	}
}

// The glyphs. Each is one cell wide in every terminal.
const (
	GlyphObserved = "●"
	GlyphModelled = "○"
	// GlyphEstimated marks values from before the recording, which are estimates.
	GlyphEstimated = "◌"
	GlyphGated     = "⊘"
	GlyphSelected  = "▸"
	GlyphEarly     = "≤"
	GlyphFolded    = "⊞"
	GlyphUnfolded  = "⊟"
	GlyphHigh      = "↑"
	GlyphLow       = "↓"
)

// Provenance returns the glyph of an observed or a modelled value.
func Provenance(observed bool) string {
	if observed {
		return GlyphObserved
	}
	return GlyphModelled
}
