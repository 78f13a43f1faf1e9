package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui"
)

// maxCommands limits the number of user-defined commands.
const maxCommands = 100

func readCommands(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return fmt.Errorf("invalid commands %s: use a mapping of names to lists of words", quoted(value))
	}
	if len(value.Content)/2 > maxCommands {
		return fmt.Errorf("too many commands: %d, at most %d", len(value.Content)/2, maxCommands)
	}
	c.Commands = nil
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, given := value.Content[i], value.Content[i+1]
		own := tui.Command{Name: string(sources.Sanitize(name.Value))}
		switch {
		case own.Name == "":
			return &placed{fmt.Errorf("invalid command name %s", quoted(name)), name}
		case slices.ContainsFunc(c.Commands, func(other tui.Command) bool { return other.Name == own.Name }):
			return &placed{fmt.Errorf("duplicate command %s", own.Name), name}
		}
		if err := readCommand(&own, given); err != nil {
			return &placed{err, given}
		}
		c.Commands = append(c.Commands, own)
	}
	return nil
}

// readCommand reads one command: a list of words, or a mapping with run (the words) and terminal.
func readCommand(own *tui.Command, value *yaml.Node) error {
	words := value
	if value.Kind == yaml.MappingNode {
		words = nil
		for i := 0; i+1 < len(value.Content); i += 2 {
			key, given := value.Content[i], value.Content[i+1]
			switch key.Value {
			case "run":
				words = given
			case "terminal":
				if given.Tag != "!!bool" || given.Decode(&own.Terminal) != nil {
					return fmt.Errorf("invalid terminal %s: use true or false", quoted(given))
				}
			default:
				return fmt.Errorf("unknown command field %s: use run and terminal", quoted(key))
			}
		}
	}
	if words == nil || words.Kind != yaml.SequenceNode || words.Decode(&own.Words) != nil {
		return fmt.Errorf("invalid command %s: use a list of words like [kubectl, describe, pod, -n, \"{namespace}\", \"{name}\"]; it runs without a shell", own.Name)
	}
	return tui.CheckCommand(own.Words)
}

func commandsSchema() map[string]any {
	words := map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "minItems": 1}
	return map[string]any{"type": "object", "maxProperties": maxCommands, "additionalProperties": map[string]any{"oneOf": []any{
		words,
		map[string]any{"type": "object", "required": []string{"run"}, "additionalProperties": false,
			"properties": map[string]any{"run": words, "terminal": map[string]any{"type": "boolean"}}},
	}}}
}
