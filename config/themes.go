package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/theme"
)

func readTheme(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.ScalarNode {
		return fmt.Errorf("theme is a word, not %s", quoted(value))
	}
	c.Theme = theme.Theme(value.Value)
	return nil
}

// checkTheme finds the theme among those that there are, which are all known once the whole file is read.
func (c *Config) checkTheme() error {
	named, err := c.Themes.Parse(string(sources.Sanitize(string(c.Theme))))
	c.Theme = named
	return err
}

// mostThemes is how many themes of one's own there can be.
const mostThemes = 100

func readThemes(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return fmt.Errorf("themes are names with the colours of each, not %s", quoted(value))
	}
	if len(value.Content)/2 > mostThemes {
		return fmt.Errorf("there are %d themes, %d at the most", len(value.Content)/2, mostThemes)
	}
	c.Themes = nil
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, given := value.Content[i], value.Content[i+1]
		skin := theme.Skin{Name: theme.Theme(sources.Sanitize(name.Value)), Base: theme.Auto, Colors: map[theme.Role]theme.Color{}}
		switch {
		case skin.Name == "" || slices.Contains(theme.All(), theme.Theme(strings.ToLower(string(skin.Name)))):
			return &placed{fmt.Errorf("%s is no name for a theme of one's own", quoted(name)), name}
		case slices.Contains(c.Themes.All(), skin.Name):
			return &placed{fmt.Errorf("the theme %s is there twice", skin.Name), name}
		}
		if err := readSkin(&skin, given); err != nil {
			return err
		}
		c.Themes = append(c.Themes, skin)
	}
	return nil
}

// readSkin reads what a theme is made of, and its colours.
func readSkin(skin *theme.Skin, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return &placed{fmt.Errorf("the theme %s is made of lines like backoffQ: \"#f2b155\"", skin.Name), value}
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, given := value.Content[i], value.Content[i+1]
		if key.Value == "base" {
			j := slices.Index(theme.All(), theme.Theme(given.Value))
			if j < 0 {
				return &placed{fmt.Errorf("the base of %s is one of %s, not %s", skin.Name, themeNames(), quoted(given)), given}
			}
			skin.Base = theme.All()[j]
			continue
		}
		role, err := theme.ParseRole(string(sources.Sanitize(key.Value)))
		if err != nil {
			return &placed{fmt.Errorf("theme %s: %w", skin.Name, err), key}
		}
		if _, twice := skin.Colors[role]; twice {
			return &placed{fmt.Errorf("theme %s: %s is there twice", skin.Name, role), key}
		}
		if skin.Colors[role], err = readColor(given); err != nil {
			return &placed{fmt.Errorf("%s of the theme %s: %w", role, skin.Name, err), given}
		}
	}
	return nil
}

// readColor reads a colour, or a list of two: that, and what it is on terminals that have sixteen colours.
func readColor(value *yaml.Node) (theme.Color, error) {
	if value.Kind != yaml.SequenceNode {
		return theme.ParseColor(value.Value)
	}
	if len(value.Content) != 2 {
		return theme.Color{}, fmt.Errorf("a list has two colours: one, and what it is on terminals that have sixteen")
	}
	c, err := theme.ParseColor(value.Content[0].Value)
	if err != nil {
		return c, err
	}
	return c.On16(value.Content[1].Value)
}

func themeNames() string {
	var names []string
	for _, t := range theme.All() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

func themesSchema() map[string]any {
	named := map[string]any{"enum": theme.ColorNames()}
	one := map[string]any{"oneOf": []any{named, map[string]any{"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}}}
	two := map[string]any{"type": "array", "prefixItems": []any{one, named}, "minItems": 2, "maxItems": 2}
	colors := map[string]any{"base": map[string]any{"enum": theme.All()}}
	for _, role := range theme.Roles() {
		colors[string(role)] = map[string]any{"$ref": "#/properties/themes/$defs/color"}
	}
	return map[string]any{
		"type": "object", "maxProperties": mostThemes,
		"additionalProperties": map[string]any{"type": "object", "additionalProperties": false, "properties": colors},
		"$defs":                map[string]any{"color": map[string]any{"oneOf": []any{one, two}}},
	}
}
