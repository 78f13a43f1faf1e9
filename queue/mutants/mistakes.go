package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mistake is one small mistake in a function: text in place of what was there.
type mistake struct {
	file     string
	line     int
	name     string // tells it from the others of its package, whatever lines are above it
	was      string
	text     string
	from, to int    // the bytes of the file that text takes the place of
	asleep   []edit // the same as edits that wait for the mistake's number; none where the compiler has something against that
}

// at is the file and line as the compiler names them, "file.go:12".
func (m mistake) at() string { return fmt.Sprintf("%s:%d", filepath.Base(m.file), m.line) }

// edit is something written into a file: text before the byte at, and in place of the next replaced bytes.
type edit struct {
	at       int
	text     string
	closes   bool // ends what another edit began, and so stands before all that begins at the same byte
	replaced int
}

// brief is text on one line, or a word for none.
func brief(text string) string {
	if text == "" {
		return "nothing"
	}
	return strings.Join(strings.Fields(text), " ")
}

// opposites are what an operator is taken for.
var opposites = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// mistakesOf returns the mistakes that can be made in the files of dir, without its tests.
func mistakesOf(dir string) ([]mistake, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mistake
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
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				d := drawing{files: files, source: source, name: name, function: f.Name.Name, next: len(all), part: map[ast.Node]bool{}, awaited: map[ast.Node]bool{}}
				ast.Inspect(f, d.draw)
				all = append(all, d.mistakes...)
			}
		}
	}
	seen := map[string]int{}
	for i := range all {
		if seen[all[i].name]++; seen[all[i].name] > 1 {
			all[i].name = fmt.Sprintf("%s #%d", all[i].name, seen[all[i].name])
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no code to make mistakes in", dir)
	}
	return all, nil
}

// drawing draws the mistakes of one function. A mistake's number is its place among those of the package, which next begins at.
type drawing struct {
	files    *token.FileSet
	source   []byte
	name     string
	function string
	next     int
	part     map[ast.Node]bool // statements that are part of another, where no if can stand
	awaited  map[ast.Node]bool // what a select waits for: it can't be left out
	mistakes []mistake
}

// draw adds the mistakes that can be made at n itself.
func (d *drawing) draw(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ForStmt:
		d.part[n.Init], d.part[n.Post] = true, true
	case *ast.IfStmt:
		d.part[n.Init] = true
		d.add(n.Cond.Pos(), n.Cond.End(), "false", d.around(n.Cond, "!mistaken(%d) && (", ")"))
	case *ast.SwitchStmt:
		d.part[n.Init] = true
	case *ast.CommClause:
		d.awaited[n.Comm] = true
	case *ast.BinaryExpr:
		if text, ok := opposites[n.Op]; ok {
			d.add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), text, d.operator(n))
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			d.add(n.OpPos, n.OpPos+1, "", []edit{
				{at: d.at(n.OpPos), text: fmt.Sprintf("(mistaken(%d) == (", d.number()), replaced: 1}, {at: d.at(n.End()), text: "))", closes: true},
			})
		}
	case *ast.BasicLit:
		if v, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
			d.add(n.Pos(), n.End(), strconv.Itoa(v+1), d.around(n, "mistakenNumber(%d, ", ")"))
		}
	case *ast.IncDecStmt, *ast.ExprStmt:
		d.drop(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			d.drop(n)
		}
	}
	return true
}

// operator are the edits that take n's operator for its opposite. No operand is written twice, so that mistakes within them stay one.
func (d *drawing) operator(n *ast.BinaryExpr) []edit {
	function := map[token.Token]string{
		token.LSS: "mistakenLess", token.LEQ: "mistakenAtMost", token.GTR: "mistakenMore", token.GEQ: "mistakenAtLeast",
		token.ADD: "mistakenPlus", token.SUB: "mistakenMinus",
	}
	switch n.Op {
	case token.EQL, token.NEQ:
		return d.around(n, "(mistaken(%d) != (", "))")
	case token.LAND, token.LOR: // x || y is !(!x && !y)
		is := fmt.Sprintf("mistaken(%d)", d.number())
		return []edit{
			{at: d.at(n.X.Pos()), text: "(" + is + " != ((" + is + " != ("}, {at: d.at(n.X.End()), text: "))", closes: true},
			{at: d.at(n.Y.Pos()), text: "(" + is + " != ("}, {at: d.at(n.Y.End()), text: "))))", closes: true},
		}
	}
	return append(d.around(n, function[n.Op]+"(%d, ", ")"), edit{at: d.at(n.OpPos), text: ",", replaced: len(n.Op.String())})
}

// drop adds the mistake of a statement that was forgotten.
func (d *drawing) drop(n ast.Node) {
	if d.awaited[n] {
		return
	}
	before, after := "if !mistaken(%d) { ", " }"
	if d.part[n] {
		before, after = "func() { "+before, after+" }()"
	}
	d.add(n.Pos(), n.End(), "", d.around(n, before, after))
}

// around are the edits that write before and after n; before has room for the next mistake's number.
func (d *drawing) around(n ast.Node, before, after string) []edit {
	return []edit{{at: d.at(n.Pos()), text: fmt.Sprintf(before, d.number())}, {at: d.at(n.End()), text: after, closes: true}}
}

// add adds the next mistake.
func (d *drawing) add(from, to token.Pos, text string, asleep []edit) {
	m := mistake{file: d.name, line: d.files.Position(from).Line, from: d.at(from), to: d.at(to), text: text, asleep: asleep}
	m.was = string(d.source[m.from:m.to])
	m.name = fmt.Sprintf("%s %s: %s => %s", filepath.Base(d.name), d.function, brief(m.was), brief(text))
	d.mistakes = append(d.mistakes, m)
}

func (d *drawing) number() int { return d.next + len(d.mistakes) }

func (d *drawing) at(pos token.Pos) int { return d.files.Position(pos).Offset }
