package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandsAreApart: a package of commands is imported by the program alone, and what commands share is in packages
// below them.
func TestCommandsAreApart(t *testing.T) {
	for _, pattern := range []string{"*/*.go", "command/*/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("no %s, %v", pattern, err)
		}
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range file.Imports {
				if strings.Contains(i.Path.Value, "/cmd/schedq/command/") {
					t.Errorf("%s imports %s", path, i.Path.Value)
				}
			}
		}
	}
}
