package tui

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

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

// Theme names a set of colours.
type Theme string

// The themes. Those that name no background have colours for either, and ask the terminal which it has.
const (
	ThemeAuto         Theme = "auto"
	ThemeDark         Theme = "dark"
	ThemeLight        Theme = "light"
	ThemeHighContrast Theme = "high-contrast"
	ThemeColorBlind   Theme = "colour-blind"
	ThemeNone         Theme = "none"
)

// Themes returns all themes, in the order in which they are offered.
func Themes() []Theme {
	return []Theme{ThemeAuto, ThemeDark, ThemeLight, ThemeHighContrast, ThemeColorBlind, ThemeNone}
}

// ParseTheme returns the theme of that name; an empty name is ThemeAuto. The error is a sentence that lists
// the names there are.
func ParseTheme(name string) (Theme, error) {
	if name == "" {
		return ThemeAuto, nil
	}
	if i := slices.Index(Themes(), Theme(strings.ToLower(name))); i >= 0 {
		return Themes()[i], nil
	}
	var names []string
	for _, t := range Themes() {
		names = append(names, string(t))
	}
	return "", fmt.Errorf("there is no theme %q, only %s", name, strings.Join(names, ", "))
}

// next is the theme offered after t.
func (t Theme) next() Theme {
	all := Themes()
	return all[(slices.Index(all, t)+1)%len(all)]
}

// shades are the colours of one meaning on a light and on a dark background.
type shades struct{ light, dark string }

// standard are the colours that are used if no others are asked for.
func standard() map[canvas.Style]shades {
	return map[canvas.Style]shades{
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
	}
}

// highContrast are at least 7:1 from their background, what is secondary, too.
func highContrast() map[canvas.Style]shades {
	return map[canvas.Style]shades{
		dim:           {"#4a4a4a", "#c0c0c0"},
		accent:        {"#003c8f", "#9ecbff"},
		active:        {"#00501b", "#8dff9a"},
		backoff:       {"#6b3000", "#ffd000"},
		unschedulable: {"#8f0010", "#ffb3ad"},
		gated:         {"#4b1a9e", "#dcc6ff"},
		inFlight:      {"#004a52", "#7df5ff"},
		scheduled:     {"#00501b", "#8dff9a"},
		whatIf:        {"#7a0a3c", "#ffaad4"},
		alarm:         {"#8a0000", "#ffa8a0"},
	}
}

// colorBlind tell themselves apart by lightness and along blue and yellow, which people of every common
// kind of colour blindness see. They follow Okabe and Ito's palette.
func colorBlind() map[canvas.Style]shades {
	return map[canvas.Style]shades{
		dim:           {"#6e6e6e", "#8a8a8a"},
		accent:        {"#00547f", "#8fd0ff"},
		active:        {"#0072b2", "#56b4e9"},
		backoff:       {"#8a6a00", "#f0e442"},
		unschedulable: {"#801f00", "#ff8a3d"},
		gated:         {"#8a3a6b", "#e6a6cb"},
		inFlight:      {"#000000", "#ffffff"},
		scheduled:     {"#0072b2", "#56b4e9"},
		whatIf:        {"#8a3a6b", "#e6a6cb"},
		alarm:         {"#801f00", "#ff8a3d"},
	}
}

// newPalette returns the colours of t for a dark or a light background. A projector washes colours out: for
// one, all is bold, and what is secondary is not dim.
func newPalette(t Theme, dark, projector bool) *canvas.Palette {
	set := standard()
	switch t {
	case ThemeDark:
		dark = true
	case ThemeLight:
		dark = false
	case ThemeHighContrast:
		set = highContrast()
	case ThemeColorBlind:
		set = colorBlind()
	case ThemeNone:
		set = nil
	}
	if projector && (t == ThemeAuto || t == ThemeDark || t == ThemeLight) {
		set = highContrast()
	}
	pick := lipgloss.LightDark(dark)
	var colors [canvas.Colors]color.Color
	for style, pair := range set {
		colors[style] = pick(lipgloss.Color(pair.light), lipgloss.Color(pair.dark))
	}
	p := canvas.NewPalette(colors)
	if projector {
		for style := range p {
			p[style] = p[style|int(canvas.Bold)]
		}
	}
	return p
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
	// glyphEstimated marks what is thought of a pod from before its source came.
	glyphEstimated = "◌"
	glyphGated     = "⊘"
	glyphSelected  = "▸"
	glyphEarly     = "≤"
	glyphFolded    = "⊞"
	glyphUnfolded  = "⊟"
	glyphHigh      = "↑"
	glyphLow       = "↓"
)

// provenance returns the glyph for where a value comes from.
func provenance(observed bool) string {
	if observed {
		return glyphObserved
	}
	return glyphModelled
}
