package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/schedq/schedq/keymap"
)

// Schema returns the JSON schema of the configuration file, for editors.
func Schema() ([]byte, error) {
	properties := map[string]any{}
	for _, s := range settings() {
		property := map[string]any{"description": s.says}
		for k, v := range s.schema {
			property[k] = v
		}
		properties[s.name] = property
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Configuration of schedq",
		"type": "object", "properties": properties, "additionalProperties": false,
	})
	return b.Bytes(), err
}

// keysSchema describes each action and its default keys.
func keysSchema() map[string]any {
	actions := map[string]any{}
	for _, b := range keymap.Default() {
		text := b.Description
		if len(b.Keys) > 0 {
			text += " (" + b.AllKeys() + ")"
		}
		actions[string(b.ID)] = map[string]any{"description": text, "$ref": "#/properties/keys/$defs/keys"}
	}
	return map[string]any{
		"type": "object", "properties": actions, "additionalProperties": false,
		"$defs": map[string]any{"keys": map[string]any{"oneOf": []any{
			map[string]any{"type": "string"},
			map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "uniqueItems": true},
			map[string]any{"type": "null"},
		}}},
	}
}

// Example returns a configuration file with all default values.
func Example() string {
	var b strings.Builder
	b.WriteString("# schedq's configuration, with the defaults.\n")
	for _, s := range settings() {
		fmt.Fprintf(&b, "\n# %s\n", s.says)
		if s.name == "keys" {
			fmt.Fprintf(&b, "# keys: %s\n", s.example)
		} else {
			fmt.Fprintf(&b, "%s: %s\n", s.name, s.example)
		}
	}
	return b.String()
}
