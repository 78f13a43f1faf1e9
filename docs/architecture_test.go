package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/schedq/schedq/"

// What a room may hold at the most, and from what on a reader is better served by two.
const (
	maxFiles, maxPackage, maxFunction = 20, 3000, 75
	longFile, longFunction            = 400, 60
)

// room is a package of the program, as its files say.
type room struct {
	path    string
	files   []*ast.File
	lines   int
	imports []string // of other rooms, and of all else
}

// modules are the folders that are Go modules of their own: no part of the program.
var modules = []string{filepath.Join("..", "e2e"), filepath.Join("..", "release"), filepath.Join("..", "site")}

// house returns all rooms by path, without their tests.
func house(t *testing.T) (map[string]*room, *token.FileSet) {
	t.Helper()
	rooms, fset := map[string]*room{}, token.NewFileSet()
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(modules, p) || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && p != ".."):
			return filepath.SkipDir
		case !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		at := filepath.ToSlash(filepath.Dir(p))[len("../"):]
		r := rooms[at]
		if r == nil {
			r = &room{path: at}
			rooms[at] = r
		}
		r.files = append(r.files, file)
		r.lines += fset.File(file.FileStart).LineCount()
		for _, i := range file.Imports {
			r.imports = append(r.imports, strings.Trim(i.Path.Value, `"`))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rooms, fset
}

// between returns the lines of architecture.md from the comment that begins so to the end of that block.
func between(t *testing.T, begin string) []string {
	t.Helper()
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "<!-- "+begin)
	block, _, ended := strings.Cut(after, "<!-- end -->")
	if !found || !ended {
		t.Fatalf("architecture.md has no block %q", begin)
	}
	return strings.Split(block, "\n")[1:]
}

// layers returns the floor of each room, the top one being 0, and which rooms are for tests.
func layers(t *testing.T, rooms map[string]*room) (floor map[string]int, tests map[string]bool) {
	t.Helper()
	floor, tests = map[string]int{}, map[string]bool{}
	for n, line := range between(t, "layers") {
		words := strings.Fields(line)
		for i, pattern := range words {
			if pattern == "(tests)" {
				continue
			}
			known := false
			for at := range rooms {
				if ok, _ := path.Match(pattern, at); !ok {
					continue
				}
				if _, twice := floor[at]; twice {
					t.Errorf("%s is twice in architecture.md's order", at)
				}
				known, floor[at] = true, n
				tests[at] = i+1 < len(words) && words[i+1] == "(tests)"
			}
			if !known && !onlyTests(pattern) {
				t.Errorf("architecture.md's order has %s, and there is no such package", pattern)
			}
		}
	}
	return floor, tests
}

// onlyTests reports whether a folder holds tests and nothing else.
func onlyTests(at string) bool {
	found, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(at), "*_test.go"))
	return err == nil && len(found) > 0
}

// TestLayers: imports point down, in the order of architecture.md.
func TestLayers(t *testing.T) {
	rooms, _ := house(t)
	floor, tests := layers(t, rooms)
	for at, r := range rooms {
		if _, known := floor[at]; !known {
			t.Errorf("%s is not in architecture.md's order", at)
			continue
		}
		for _, imported := range r.imports {
			to, ours := strings.CutPrefix(imported, module)
			switch {
			case ours && floor[to] <= floor[at]:
				t.Errorf("%s imports %s, which is not below it in architecture.md", at, to)
			case ours && tests[to] && !tests[at]:
				t.Errorf("%s imports %s, which is for tests alone", at, to)
			case ours && inside(to, "queue/session") && !inside(at, "queue/session") && to != "queue/session" && to != "queue/session/filter":
				t.Errorf("%s imports %s: of the session it may see queue/session and its filter", at, to)
			case inside(at, "tui") && strings.HasPrefix(imported, "k8s.io/client-go"):
				t.Errorf("%s imports %s: the screen knows no cluster", at, imported)
			case at == "queue" && slices.Contains([]string{"os", "net", "net/http", "sync", "sync/atomic", "context"}, imported):
				t.Errorf("queue imports %s: it is a pure state machine", imported)
			}
		}
	}
}

func inside(at, folder string) bool { return at == folder || strings.HasPrefix(at, folder+"/") }

// TestSizes: no room is too large to know, and none lacks a word on what it is. What is merely long is named with -v.
func TestSizes(t *testing.T) {
	rooms, fset := house(t)
	for at, r := range rooms {
		if len(r.files) > maxFiles {
			t.Errorf("%s has %d files, %d at the most", at, len(r.files), maxFiles)
		}
		if r.lines > maxPackage {
			t.Errorf("%s has %d lines, %d at the most", at, r.lines, maxPackage)
		}
		if !slices.ContainsFunc(r.files, func(f *ast.File) bool { return f.Doc != nil }) {
			t.Errorf("%s has no comment that says what it is", at)
		}
		for _, f := range r.files {
			if file := fset.File(f.FileStart); file.LineCount() > longFile {
				t.Logf("warning: %s has %d lines: has it two subjects?", file.Name(), file.LineCount())
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				from := fset.Position(fn.Pos())
				switch lines := fset.Position(fn.End()).Line - from.Line + 1; {
				case lines > maxFunction:
					t.Errorf("%s: %s has %d lines, %d at the most", from, fn.Name.Name, lines, maxFunction)
				case lines > longFunction:
					t.Logf("warning: %s: %s has %d lines", from, fn.Name.Name, lines)
				}
			}
		}
	}
}

// TestWords: what the glossary has a better word for is not declared.
func TestWords(t *testing.T) {
	instead := map[string]string{}
	name := regexp.MustCompile("`([^`]+)`")
	for _, line := range between(t, "forbidden") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(cells[1], -1) {
			instead[m[1]] = strings.TrimSpace(cells[2])
		}
	}
	if len(instead) == 0 {
		t.Fatal("architecture.md forbids no word")
	}
	rooms, fset := house(t)
	check := func(where fmt.Stringer, word string) {
		if better := instead[word]; better != "" {
			t.Errorf("%s: %s says too little: %s", where, word, better)
		}
	}
	for _, r := range rooms {
		for _, f := range r.files {
			check(fset.Position(f.Package), f.Name.Name)
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					check(fset.Position(n.Pos()), n.Name.Name)
				case *ast.TypeSpec:
					check(fset.Position(n.Pos()), n.Name.Name)
				}
				return true
			})
		}
	}
}
