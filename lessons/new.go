package lessons

import (
	_ "embed"
	"strings"

	"github.com/schedq/schedq/sources"
)

//go:embed template.txt
var template string

// New returns a lesson template with that name. The template passes the linter and shows all
// features.
func New(name string) ([]byte, error) {
	if name == "-" {
		name = "my-lesson"
	}
	if err := sources.CheckName(name); err != nil {
		return nil, err
	}
	return []byte(strings.Replace(template, "name: NAME", "name: "+name, 1)), nil
}
