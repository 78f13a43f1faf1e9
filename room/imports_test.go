package room_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestImports: the room does not import packages that reach files, processes, the environment or
// clusters.
func TestImports(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if path == "os" || strings.HasPrefix(path, "os/") || path == "syscall" || path == "plugin" || path == "net/http" || strings.HasPrefix(path, "k8s.io/") {
				t.Errorf("%s imports %s", source, path)
			}
		}
	}
}
