package tui

import (
	"image/color"

	"charm.land/lipgloss/v2"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/canvas"
)

// The colours, by what they mean. Nothing is told by one of them alone.
const (
	plain canvas.Style = iota
	dim
	accent
	active
	backoff
	unschedulable
	gated
	inFlight
	scheduled
	whatIf
	alarm
)

// chosen is the style of the row that the next key is about.
const chosen = accent | canvas.Reverse

// newPalette returns the colours for a dark or a light background.
func newPalette(dark bool) *canvas.Palette {
	pick := lipgloss.LightDark(dark)
	var colors [canvas.Colors]color.Color
	for style, pair := range map[canvas.Style][2]string{
		dim:           {"#6e6e6e", "#8a8a8a"},
		accent:        {"#0550ae", "#79b8ff"},
		active:        {"#116329", "#7ee787"},
		backoff:       {"#8a4600", "#f2b155"},
		unschedulable: {"#b3261e", "#ff9a91"},
		gated:         {"#6639ba", "#c9a8ff"},
		inFlight:      {"#00616b", "#6fd6e0"},
		scheduled:     {"#116329", "#7ee787"},
		whatIf:        {"#99154b", "#ff8ac0"},
		alarm:         {"#a40e26", "#ff7b72"},
	} {
		colors[style] = pick(lipgloss.Color(pair[0]), lipgloss.Color(pair[1]))
	}
	return canvas.NewPalette(colors)
}

// tierStyle returns the colour of a tier.
func tierStyle(tier queue.Tier) canvas.Style {
	switch tier {
	case queue.Active:
		return active
	case queue.Backoff:
		return backoff
	case queue.Unschedulable:
		return unschedulable
	case queue.Gated:
		return gated
	case queue.InFlight:
		return inFlight
	case queue.Scheduled:
		return scheduled
	default:
		return dim
	}
}

// tierName returns upstream's word for the place, as it stands in a sentence.
func tierName(tier queue.Tier) string {
	switch tier {
	case queue.Active:
		return "activeQ"
	case queue.Backoff:
		return "backoffQ"
	case queue.InFlight:
		return "in-flight"
	case queue.None:
		return "new"
	default:
		return tier.String()
	}
}

// The glyphs. Each is one cell wide in every terminal.
const (
	glyphObserved = "●"
	glyphModelled = "○"
	glyphGated    = "⊘"
	glyphSelected = "▸"
	glyphEarly    = "≤"
	glyphHigh     = "↑"
	glyphLow      = "↓"
)

// provenance returns the glyph for where a value comes from.
func provenance(observed bool) string {
	if observed {
		return glyphObserved
	}
	return glyphModelled
}
