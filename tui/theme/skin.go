package theme

import (
	"fmt"
	"image/color"
	"regexp"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/schedq/schedq/tui/canvas"
)

// Skin is a user-defined theme: another theme with some colours replaced.
type Skin struct {
	Name Theme
	// Base is one of All, for all other colours.
	Base   Theme
	Colors map[Role]Color
}

// Skins are the user-defined themes, offered after those of All in this order.
type Skins []Skin

// Role is the meaning of a colour.
type Role string

// roles returns all roles in the order of the documentation.
func roles() []Role {
	return []Role{"activeQ", "backoffQ", "unschedulable", "gated", "in-flight", "bound", "what-if", "alarm", "accent", "dim"}
}

// style returns the style that the role's colour applies to.
func (r Role) style() canvas.Style {
	return [...]canvas.Style{Active, Backoff, Unschedulable, Gated, InFlight, Scheduled, WhatIf, Alarm, Accent, Dim}[slices.Index(roles(), r)]
}

// Roles returns all roles.
func Roles() []Role { return roles() }

// ParseRole returns the role of that name.
func ParseRole(name string) (Role, error) {
	if r := Role(name); slices.Contains(roles(), r) {
		return r, nil
	}
	var names []string
	for _, r := range roles() {
		names = append(names, string(r))
	}
	return "", fmt.Errorf("unknown colour role %q: use %s", name, strings.Join(names, ", "))
}

// Color is the colour of a role.
type Color struct {
	full color.Color
	// sixteen is for terminals with sixteen colours. Nil: the base's.
	sixteen color.Color
}

// ColorNames returns the names of the sixteen ANSI colours, which each terminal defines.
func ColorNames() []string {
	names := []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
	for _, name := range names[:8] {
		names = append(names, "bright-"+name)
	}
	return names
}

// hexColor matches colours without a name.
var hexColor = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// ParseColor parses #rrggbb or one of ColorNames.
func ParseColor(text string) (Color, error) {
	if i := slices.Index(ColorNames(), text); i >= 0 {
		named := ansi.BasicColor(i)
		return Color{named, named}, nil
	}
	if hexColor.MatchString(text) {
		return Color{full: lipgloss.Color(text)}, nil
	}
	return Color{}, fmt.Errorf("invalid colour: use #rrggbb in quotes, or one of %s", strings.Join(ColorNames(), ", "))
}

// On16 returns c with the colour for terminals with sixteen colours, one of ColorNames.
func (c Color) On16(text string) (Color, error) {
	i := slices.Index(ColorNames(), text)
	if i < 0 {
		return c, fmt.Errorf("invalid colour for sixteen-colour terminals: use %s", strings.Join(ColorNames(), ", "))
	}
	c.sixteen = ansi.BasicColor(i)
	return c, nil
}

// All returns all themes in the order in which they are offered.
func (s Skins) All() []Theme {
	all := All()
	for _, skin := range s {
		all = append(all, skin.Name)
	}
	return all
}

// Parse returns the theme of that name; "" is Auto. The error lists the names.
func (s Skins) Parse(name string) (Theme, error) {
	if name == "" {
		return Auto, nil
	}
	all := s.All()
	if i := slices.Index(all, Theme(name)); i >= 0 {
		return all[i], nil
	}
	if i := slices.Index(All(), Theme(strings.ToLower(name))); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, t := range all {
		names = append(names, string(t))
	}
	return "", fmt.Errorf("unknown theme %q: use %s", name, strings.Join(names, ", "))
}

// Next returns the theme offered after t.
func (s Skins) Next(t Theme) Theme {
	all := s.All()
	return all[(slices.Index(all, t)+1)%len(all)]
}

// Base returns t, or the base of a user-defined theme.
func (s Skins) Base(t Theme) Theme {
	if skin := s.named(t); skin != nil {
		return skin.Base
	}
	return t
}

func (s Skins) named(t Theme) *Skin {
	if i := slices.IndexFunc(s, func(skin Skin) bool { return skin.Name == t }); i >= 0 {
		return &s[i]
	}
	return nil
}

// Palette returns the colours of t for a dark or a light background: see NewPalette.
func (s Skins) Palette(t Theme, dark, projector, sixteen bool) *canvas.Palette {
	colors := colorsOf(s.Base(t), dark, projector, sixteen)
	if skin := s.named(t); skin != nil {
		for role, c := range skin.Colors {
			switch {
			case !sixteen:
				colors[role.style()] = c.full
			case c.sixteen != nil:
				colors[role.style()] = c.sixteen
			}
		}
	}
	return paletteOf(colors, projector)
}
