package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
)

// Command is a user-defined command.
type Command struct {
	Name string
	// Words are the program and its arguments. {namespace}, {name} and {node} stand for the selected pod's.
	Words []string
	// Terminal is set if the command needs the terminal: a pager, an editor, k9s. The output of others is shown when they end.
	Terminal bool
}

// field is a placeholder in a word.
var field = regexp.MustCompile(`\{[a-z]+\}`)

// CommandFields returns the placeholders.
func CommandFields() []string { return []string{"{namespace}", "{name}", "{node}"} }

// CheckCommand returns an error if the words of a command are invalid.
func CheckCommand(words []string) error {
	if len(words) == 0 || words[0] == "" {
		return fmt.Errorf("a command needs the name of a program")
	}
	for _, word := range words {
		for _, f := range field.FindAllString(word, -1) {
			if !slices.Contains(CommandFields(), f) {
				return fmt.Errorf("unknown field %s: use %s", sources.Sanitize(f), strings.Join(CommandFields(), ", "))
			}
		}
	}
	return nil
}

// name matches valid names of objects and namespaces. They can't be mistaken for flags or paths.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// about returns the words of c for p. It fails if the pod lacks a field, or if the value is not a valid name, since recordings may
// contain anything.
func (c Command) about(p *board.Pod) ([]string, error) {
	var failed error
	words := make([]string, len(c.Words))
	for i, word := range c.Words {
		words[i] = field.ReplaceAllStringFunc(word, func(f string) string {
			value := map[string]string{"{namespace}": p.Key.Namespace, "{name}": p.Key.Name, "{node}": p.Node}[f]
			switch {
			case value == "":
				failed = fmt.Errorf("%s has no %s", p.Key, strings.Trim(f, "{}"))
			case !name.MatchString(value):
				failed = fmt.Errorf("%q is not a valid name", sources.Sanitize(value))
			}
			return value
		})
	}
	return words, failed
}

// isAboutPod reports whether c needs a pod.
func (c Command) isAboutPod() bool { return slices.ContainsFunc(c.Words, field.MatchString) }
