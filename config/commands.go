package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui"
)

// mostCommands is how many commands of one's own there can be.
const mostCommands = 100

func readCommands(c *Config, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return fmt.Errorf("commands are names with the words of each, not %s", quoted(value))
	}
	if len(value.Content)/2 > mostCommands {
		return fmt.Errorf("there are %d commands, %d at the most", len(value.Content)/2, mostCommands)
	}
	c.Commands = nil
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, given := value.Content[i], value.Content[i+1]
		own := tui.Command{Name: string(sources.Sanitize(name.Value))}
		switch {
		case own.Name == "":
			return &placed{fmt.Errorf("%s is no name for a command", quoted(name)), name}
		case slices.ContainsFunc(c.Commands, func(other tui.Command) bool { return other.Name == own.Name }):
			return &placed{fmt.Errorf("the command %s is there twice", own.Name), name}
		}
		if err := readCommand(&own, given); err != nil {
			return &placed{err, given}
		}
		c.Commands = append(c.Commands, own)
	}
	return nil
}

// readCommand reads one command: its words, or run with its words and terminal.
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
					return fmt.Errorf("terminal is true or false, not %s", quoted(given))
				}
			default:
				return fmt.Errorf("a command has no %s; it has run and terminal", quoted(key))
			}
		}
	}
	if words == nil || words.Kind != yaml.SequenceNode || words.Decode(&own.Words) != nil {
		return fmt.Errorf("the command %s is a list of words, as [kubectl, describe, pod, -n, \"{namespace}\", \"{name}\"]: no shell reads them", own.Name)
	}
	return tui.CheckCommand(own.Words)
}

func commandsSchema() map[string]any {
	words := map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "minItems": 1}
	return map[string]any{"type": "object", "maxProperties": mostCommands, "additionalProperties": map[string]any{"oneOf": []any{
		words,
		map[string]any{"type": "object", "required": []string{"run"}, "additionalProperties": false,
			"properties": map[string]any{"run": words, "terminal": map[string]any{"type": "boolean"}}},
	}}}
}
