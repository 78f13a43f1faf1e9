// Command mutants measures the tests of the queue: it makes one small mistake after the other in queue/*.go, and says which ones
// neither the package's tests nor a short run of the conformance test notice.
//
//	go run ./queue/mutants -sample 60 -seed 7
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	dir := flag.String("dir", "queue", "the package to make mistakes in")
	sample := flag.Int("sample", 0, "how many mutants to draw; 0: all")
	seed := flag.Int64("seed", 1, "which ones to draw")
	operations := flag.Int("operations", 4000, "about how many operations the conformance test compares for each gate")
	limit := flag.Duration("limit", 3*time.Minute, "a mutant whose tests take longer is killed")
	flag.Parse()
	all, err := mutantsOf(*dir)
	if err == nil && *sample > 0 {
		rand.New(rand.NewSource(*seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:min(*sample, len(all))]
	}
	if err == nil {
		err = try(all, *dir, *operations, *limit)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// mutant is one mistake: text in place of the bytes from..to of a file.
type mutant struct {
	file     string
	line     int
	from, to int
	was      string
	text     string
}

// opposites are what an operator is taken for.
var opposites = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// mutantsOf returns the mistakes that can be made in the files of dir, without its tests.
func mutantsOf(dir string) ([]mutant, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		add := func(from, to token.Pos, text string) {
			at := files.Position(from)
			m := mutant{file: name, line: at.Line, from: at.Offset, to: files.Position(to).Offset, text: text}
			m.was = string(source[m.from:m.to])
			all = append(all, m)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				ast.Inspect(f, func(n ast.Node) bool { return mutate(n, add) })
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no code to make mistakes in", dir)
	}
	return all, nil
}

// mutate adds the mistakes that can be made at n.
func mutate(n ast.Node, add func(from, to token.Pos, text string)) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if text, ok := opposites[n.Op]; ok {
			add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), text)
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			add(n.OpPos, n.OpPos+1, "")
		}
	case *ast.BasicLit:
		if v, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
			add(n.Pos(), n.End(), strconv.Itoa(v+1))
		}
	case *ast.IncDecStmt, *ast.ExprStmt:
		add(n.Pos(), n.End(), "")
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			add(n.Pos(), n.End(), "")
		}
	case *ast.IfStmt:
		add(n.Cond.Pos(), n.Cond.End(), "false")
	}
	return true
}

// try runs the tests on each mutant, and prints those that live.
func try(all []mutant, dir string, operations int, limit time.Duration) error {
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	killed, invalid := 0, 0
	for _, m := range all {
		overlay, err := m.write(work)
		if err != nil {
			return err
		}
		if err := run(limit, "build", "-overlay", overlay, "./"+dir); err != nil {
			invalid++
			continue
		}
		test := []string{"test", "-vet=off", "-count=1", "-overlay", overlay}
		err = run(limit, append(test, "./"+dir, "-rapid.nofailfile")...)
		if err == nil && filepath.Clean(dir) == "queue" {
			err = run(limit, append(test, "./queue/conformance", "-rapid.nofailfile", "-operations", strconv.Itoa(operations))...)
		}
		if err != nil {
			killed++
			continue
		}
		fmt.Printf("%s:%d: lives: %q for %q\n", m.file, m.line, m.text, m.was)
	}
	fmt.Printf("%d of %d mutants were killed; %d do not compile\n", killed, len(all)-invalid, invalid)
	return nil
}

// write writes the file with the mistake, and returns the overlay that has it take the place of the right one.
func (m mutant) write(work string) (string, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	wrong := filepath.Join(work, "wrong.go")
	right, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	text := string(source[:m.from]) + m.text + string(source[m.to:])
	overlay := filepath.Join(work, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {right: wrong}})
	if err != nil {
		return "", err
	}
	const readable fs.FileMode = 0o600
	return overlay, errors.Join(os.WriteFile(wrong, []byte(text), readable), os.WriteFile(overlay, replace, readable))
}

// run runs the go command, and returns what is wrong if it fails, or takes longer than limit.
func run(limit time.Duration, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return exec.CommandContext(ctx, "go", args...).Run()
}
