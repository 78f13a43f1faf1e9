package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/schedq/schedq/"

// imports returns the imports of each package of the program, without its tests. Paths are relative to the module.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all, fset := map[string][]string{}, token.NewFileSet()
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); p != ".." && (strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "e2e", "release", "site"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		at := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(p)), "../")
		for _, i := range file.Imports {
			all[at] = append(all[at], strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), module))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func inside(at, folder string) bool { return at == folder || strings.HasPrefix(at, folder+"/") }

// TestImports enforces the four import rules of development/architecture.md. The compiler rules out cycles.
func TestImports(t *testing.T) {
	// views are the packages of queue/session whose types screens and commands use.
	views := []string{"archive", "board", "cluster", "explain", "filter", "history", "opinion", "report", "timeline", "words"}
	impure := []string{"os", "io/fs", "net", "net/http", "sync/atomic", "context", "os/signal"}
	for at, imported := range imports(t) {
		for _, to := range imported {
			view, ofSession := strings.CutPrefix(to, "queue/session/")
			view, _, _ = strings.Cut(view, "/")
			switch {
			case at == "queue" && slices.Contains(impure, to):
				t.Errorf("queue imports %s: the queue is a pure state machine", to)
			case inside(at, "tui") && inside(to, "k8s.io/client-go"):
				t.Errorf("%s imports %s: the screen does not talk to a cluster", at, to)
			case (inside(at, "tui") || inside(at, "cmd")) && ofSession && !slices.Contains(views, view):
				t.Errorf("%s imports %s: screens and commands use queue/session and its views", at, to)
			case inside(at, "sources") && (inside(to, "queue/session") || inside(to, "queue/cycle") || inside(to, "lessons") || inside(to, "tui") || inside(to, "cmd") || inside(to, "config")):
				t.Errorf("%s imports %s, which is above it", at, to)
			}
		}
	}
}
