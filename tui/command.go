package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
)

// Command is what a person calls by a name.
type Command struct {
	Name string
	// Words are the program and its arguments. {namespace}, {name} and {node} in them stand for the selected pod's.
	Words []string
	// Terminal is true if it has the terminal while it runs: a pager, an editor, k9s. Otherwise what it writes is shown.
	Terminal bool
}

// field is a part of a word that stands for something of the pod.
var field = regexp.MustCompile(`\{[a-z]+\}`)

// Fields are what words may have in them.
func CommandFields() []string { return []string{"{namespace}", "{name}", "{node}"} }

// Check says what is wrong with a command's words.
func CheckCommand(words []string) error {
	if len(words) == 0 || words[0] == "" {
		return fmt.Errorf("a command begins with a program's name")
	}
	for _, word := range words {
		for _, f := range field.FindAllString(word, -1) {
			if !slices.Contains(CommandFields(), f) {
				return fmt.Errorf("a pod has no field %s; there are %s", sources.Sanitize(f), strings.Join(CommandFields(), ", "))
			}
		}
	}
	return nil
}

// name is what the API server takes for the name of an object or a namespace: nothing that a program could take for a
// flag or a path.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// about returns the words of c about p. It fails if the pod has no such field, or one that a recording made up.
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
				failed = fmt.Errorf("%q is no name that is given to a program", sources.Sanitize(value))
			}
			return value
		})
	}
	return words, failed
}

// isAboutPod reports whether c needs a pod.
func (c Command) isAboutPod() bool { return slices.ContainsFunc(c.Words, field.MatchString) }
