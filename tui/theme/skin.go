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

// Skin is a theme of a person's own: another theme, with colours of its own for some of what is drawn.
type Skin struct {
	Name Theme
	// Base is one of All. What the skin says nothing of is as there.
	Base   Theme
	Colors map[Role]Color
}

// Skins are a person's own themes, in the order in which they are offered behind those of All.
type Skins []Skin

// Role is what a colour means.
type Role string

// roles are all roles, in the order in which they are documented.
func roles() []Role {
	return []Role{"activeQ", "backoffQ", "unschedulable", "gated", "in-flight", "bound", "what-if", "alarm", "accent", "dim"}
}

// style is what is drawn in the role's colour.
func (r Role) style() canvas.Style {
	return [...]canvas.Style{Active, Backoff, Unschedulable, Gated, InFlight, Scheduled, WhatIf, Alarm, Accent, Dim}[slices.Index(roles(), r)]
}

// Roles returns all roles.
func Roles() []Role { return roles() }

// ParseRole finds the role of that name.
func ParseRole(name string) (Role, error) {
	if r := Role(name); slices.Contains(roles(), r) {
		return r, nil
	}
	var names []string
	for _, r := range roles() {
		names = append(names, string(r))
	}
	return "", fmt.Errorf("nothing is drawn in a colour called %q; there are %s", name, strings.Join(names, ", "))
}

// Color is a role's colour.
type Color struct {
	full color.Color
	// sixteen is for terminals that have no more colours. Nil: the base's.
	sixteen color.Color
}

// ColorNames returns the names of the sixteen colours that every terminal has, each as its own settings say.
func ColorNames() []string {
	names := []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
	for _, name := range names[:8] {
		names = append(names, "bright-"+name)
	}
	return names
}

// hexColor is how a colour is written that has no name.
var hexColor = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// ParseColor reads a colour: #rrggbb, or one of ColorNames.
func ParseColor(text string) (Color, error) {
	if i := slices.Index(ColorNames(), text); i >= 0 {
		named := ansi.BasicColor(i)
		return Color{named, named}, nil
	}
	if hexColor.MatchString(text) {
		return Color{full: lipgloss.Color(text)}, nil
	}
	return Color{}, fmt.Errorf("a colour is #rrggbb, in quotes, or one of %s", strings.Join(ColorNames(), ", "))
}

// On16 is c with what it is on terminals that have sixteen colours: one of ColorNames.
func (c Color) On16(text string) (Color, error) {
	i := slices.Index(ColorNames(), text)
	if i < 0 {
		return c, fmt.Errorf("on terminals of sixteen colours one is %s", strings.Join(ColorNames(), ", "))
	}
	c.sixteen = ansi.BasicColor(i)
	return c, nil
}

// All returns all themes, in the order in which they are offered.
func (s Skins) All() []Theme {
	all := All()
	for _, skin := range s {
		all = append(all, skin.Name)
	}
	return all
}

// Parse returns the theme of that name; an empty name is Auto. The error is a sentence that lists the names there are.
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
	return "", fmt.Errorf("there is no theme %q, only %s", name, strings.Join(names, ", "))
}

// Next is the theme offered after t.
func (s Skins) Next(t Theme) Theme {
	all := s.All()
	return all[(slices.Index(all, t)+1)%len(all)]
}

// Base is t, or what it is made of if it is a person's own.
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
