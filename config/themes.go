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
		return fmt.Errorf("invalid theme %s: use a word", quoted(value))
	}
	c.Theme = theme.Theme(value.Value)
	return nil
}

// checkTheme resolves the theme's name. It runs last because the file may define the theme further
// down.
func (c *Config) checkTheme() error {
	named, err := c.Themes.Parse(string(sources.Sanitize(string(c.Theme))))
	c.Theme = named
	return err
}

// maxThemes limits the number of user-defined themes.
const maxThemes = 100

func readThemes(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return fmt.Errorf("invalid themes %s: use a mapping of names to themes", quoted(value))
	}
	if len(value.Content)/2 > maxThemes {
		return fmt.Errorf("too many themes: %d, at most %d", len(value.Content)/2, maxThemes)
	}
	c.Themes = nil
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, given := value.Content[i], value.Content[i+1]
		skin := theme.Skin{Name: theme.Theme(sources.Sanitize(name.Value)), Base: theme.Auto, Colors: map[theme.Role]theme.Color{}}
		switch {
		case skin.Name == "" || slices.Contains(theme.All(), theme.Theme(strings.ToLower(string(skin.Name)))):
			return &placed{fmt.Errorf("invalid theme name %s: use a name that is not built in", quoted(name)), name}
		case slices.Contains(c.Themes.All(), skin.Name):
			return &placed{fmt.Errorf("duplicate theme %s", skin.Name), name}
		}
		if err := readSkin(&skin, given); err != nil {
			return err
		}
		c.Themes = append(c.Themes, skin)
	}
	return nil
}

// readSkin reads the base and the colours of a theme.
func readSkin(skin *theme.Skin, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return &placed{fmt.Errorf("invalid theme %s: use lines like backoffQ: \"#f2b155\"", skin.Name), value}
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, given := value.Content[i], value.Content[i+1]
		if key.Value == "base" {
			j := slices.Index(theme.All(), theme.Theme(given.Value))
			if j < 0 {
				return &placed{fmt.Errorf("invalid base %s of theme %s: use one of %s", quoted(given), skin.Name, themeNames()), given}
			}
			skin.Base = theme.All()[j]
			continue
		}
		role, err := theme.ParseRole(string(sources.Sanitize(key.Value)))
		if err != nil {
			return &placed{fmt.Errorf("theme %s: %w", skin.Name, err), key}
		}
		if _, twice := skin.Colors[role]; twice {
			return &placed{fmt.Errorf("theme %s: duplicate colour %s", skin.Name, role), key}
		}
		if skin.Colors[role], err = readColor(given); err != nil {
			return &placed{fmt.Errorf("theme %s: %s: %w", skin.Name, role, err), given}
		}
	}
	return nil
}

// readColor reads a colour, or a list of two: the colour, and its substitute on terminals with 16
// colours.
func readColor(value *yaml.Node) (theme.Color, error) {
	if value.Kind != yaml.SequenceNode {
		return theme.ParseColor(value.Value)
	}
	if len(value.Content) != 2 {
		return theme.Color{}, fmt.Errorf("invalid list: use two colours, the second for terminals with 16 colours")
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
		"type": "object", "maxProperties": maxThemes,
		"additionalProperties": map[string]any{"type": "object", "additionalProperties": false, "properties": colors},
		"$defs":                map[string]any{"color": map[string]any{"oneOf": []any{one, two}}},
	}
}
