package lessons

import (
	_ "embed"
	"strings"

	"github.com/schedq/schedq/sources"
)

//go:embed template.txt
var template string

// New returns the beginning of a lesson of that name. It is right, and shows all that a lesson can have.
func New(name string) ([]byte, error) {
	if name == "-" {
		name = "my-lesson"
	}
	if err := sources.CheckName(name); err != nil {
		return nil, err
	}
	return []byte(strings.Replace(template, "name: NAME", "name: "+name, 1)), nil
}
