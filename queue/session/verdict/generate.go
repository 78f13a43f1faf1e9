//go:build ignore

// This program writes reasonstable.go: the reasons of upstream's plugins in every release from v1.19 on. It downloads
// upstream's sources as Go modules (about 3 GB). For a new release, add it to releases and run go generate.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// releases has a patch release of each minor release, newest last.
var releases = []string{
	"v1.19.16", "v1.20.15", "v1.21.14", "v1.22.17", "v1.23.17", "v1.24.17", "v1.25.16", "v1.26.15", "v1.27.16", "v1.28.15",
	"v1.29.15", "v1.30.14", "v1.31.14", "v1.32.13", "v1.33.13", "v1.34.4", "v1.35.4", "v1.36.3", "v1.37.1",
}

func main() {
	log.SetFlags(0)
	given := map[string]map[string][]string{} // by text and plugin, the minor releases in which the plugin uses the text
	for _, release := range releases {
		dir, err := download(release)
		if err != nil {
			log.Fatalf("%s: %v", release, err)
		}
		for text, plugins := range reasonsIn(dir) {
			for plugin := range plugins {
				if given[text] == nil {
					given[text] = map[string][]string{}
				}
				given[text][plugin] = append(given[text][plugin], release[:strings.LastIndex(release, ".")])
			}
		}
	}
	if err := write("reasonstable.go", given); err != nil {
		log.Fatal(err)
	}
}

// download returns the directory of k8s.io/kubernetes at that release.
func download(release string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes@"+release)
	cmd.Dir = os.TempDir() // outside this module
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr == nil && module.Error != "" {
		return "", fmt.Errorf("%s", module.Error)
	}
	return module.Dir, err
}

// reasonsIn returns the reasons of all plugins in a source tree, each with its plugins.
func reasonsIn(root string) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	plugins := filepath.Join(root, "pkg/scheduler/framework/plugins")
	entries, err := os.ReadDir(plugins)
	if err != nil {
		log.Fatal(err)
	}
	registered := stringConsts(parseDir(filepath.Join(plugins, "names")))
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "examples" || e.Name() == "testing" {
			continue
		}
		files := parseDir(filepath.Join(plugins, e.Name()))
		if e.Name() == "volumebinding" { // up to v1.20 its binder is elsewhere
			maps.Copy(files, parseDir(filepath.Join(root, "pkg/controller/volume/scheduling")))
		}
		collect(files, registered, found)
	}
	return found
}

// parseDir returns a directory's files without tests, by name.
func parseDir(dir string) map[string]*ast.File {
	files := map[string]*ast.File{}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			log.Fatal(err)
		}
		files[filepath.Base(path)] = f
	}
	return files
}

var (
	isPlugin    = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	isReason    = regexp.MustCompile(`^[eE]rrReason`)
	givesReason = regexp.MustCompile(`^get.*Reason`)
)

// collect adds the reasons in one package, if its plugins reject pods in attempts. A reason belongs to the plugins whose names
// are constants in the same file, or if there are none, in the same package.
func collect(files map[string]*ast.File, registered map[string]string, found map[string]map[string]bool) {
	functions := functionsOf(files)
	if !slices.ContainsFunc([]string{"PreFilter", "Filter", "Reserve", "Permit", "PreBind"}, func(name string) bool { return functions[name] != nil }) {
		return
	}
	consts := stringConsts(files)
	ofFile, ofPackage := map[string][]string{}, []string(nil)
	for name, f := range files {
		for c, value := range constsOf(f) {
			if strings.HasSuffix(c, "Name") {
				if p := pluginNamed(value, consts, registered); p != "" {
					ofFile[name] = append(ofFile[name], p)
				}
			}
		}
		ofPackage = append(ofPackage, ofFile[name]...)
	}
	wrapped := errorsInReasons(functions)
	for name, f := range files {
		whose := ofFile[name]
		if len(whose) == 0 {
			whose = ofPackage
		}
		for _, text := range reasonsOf(f, consts, wrapped) {
			if !isSpecific(text) {
				continue
			}
			if found[text] == nil {
				found[text] = map[string]bool{}
			}
			for _, p := range whose {
				found[text][p] = true
			}
		}
	}
}

// functionsOf returns the functions and methods of a package by name.
func functionsOf(files map[string]*ast.File) map[string][]*ast.FuncDecl {
	all := map[string][]*ast.FuncDecl{}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				all[fn.Name.Name] = append(all[fn.Name.Name], fn)
			}
		}
	}
	return all
}

// errorsInReasons returns the names of the functions whose errors become reasons: NewStatus(Unschedulable, err.Error()).
func errorsInReasons(functions map[string][]*ast.FuncDecl) map[string]bool {
	wrapped := map[string]bool{}
	var follow func(n ast.Node)
	follow = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && !wrapped[called(c)] {
				for _, fn := range functions[called(c)] {
					wrapped[called(c)] = true
					follow(fn.Body)
				}
			}
			return true
		})
	}
	for _, all := range functions {
		for _, fn := range all {
			var assigned []ast.Node // assignments to err
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if exprName(n.Lhs[len(n.Lhs)-1]) == "err" {
						assigned = append(assigned, n)
					}
				case *ast.CallExpr:
					for _, a := range reasonArgs(n) {
						if exprName(a) == "err.Error" && len(assigned) > 0 {
							follow(assigned[len(assigned)-1])
						}
					}
				}
				return true
			})
		}
	}
	return wrapped
}

// reasonArgs returns the arguments of a call that are reasons of a status.
func reasonArgs(c *ast.CallExpr) []ast.Expr {
	switch name := called(c); {
	case name == "NewStatus" && len(c.Args) > 1 && !strings.HasSuffix(exprName(c.Args[0]), "Error"):
		return c.Args[1:]
	case name == "AppendReason":
		return c.Args
	case name == "statusUnschedulable" && len(c.Args) > 1:
		return c.Args[1:2] // the rest is for the log
	}
	return nil
}

// pluginNamed returns the value of a constant if it is a plugin's name, and else "".
func pluginNamed(value ast.Expr, consts, registered map[string]string) string {
	if sel, ok := value.(*ast.SelectorExpr); ok {
		return registered[sel.Sel.Name]
	}
	text, _ := textOf(value, consts, nil)
	if !isPlugin.MatchString(text) {
		return ""
	}
	return text
}

// isSpecific reports whether a text identifies a reason: it has at least three words besides placeholders.
func isSpecific(text string) bool {
	return len(strings.Fields(strings.ReplaceAll(text, wildcard, " "))) >= 3 || strings.HasPrefix(text, "Insufficient ")
}

// wildcard replaces the verbs of formats.
const wildcard = "*"

// reasonsOf returns the texts of reasons in a file, and those of errors in the functions of wrapped.
func reasonsOf(f *ast.File, consts map[string]string, wrapped map[string]bool) (texts []string) {
	add := func(e ast.Expr, locals map[string]ast.Expr) {
		if text, ok := textOf(e, consts, locals); ok {
			texts = append(texts, text)
		}
	}
	for name, value := range constsOf(f) { // VolumeBinding collects its reasons before it makes a status
		if isReason.MatchString(name) {
			add(value, nil)
		}
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Name.Name == "SignPod" {
			continue
		}
		locals := map[string]ast.Expr{}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					if id, ok := l.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
						locals[id.Name] = n.Rhs[i]
					}
				}
			case *ast.KeyValueExpr: // a field of noderesources.InsufficientResource
				if exprName(n.Key) == "Reason" {
					add(n.Value, locals)
				}
			case *ast.CompositeLit:
				if exprName(n.Type) == "InsufficientResource" {
					for _, e := range n.Elts {
						add(e, locals)
					}
				}
			case *ast.ReturnStmt:
				if givesReason.MatchString(fn.Name.Name) {
					for _, e := range n.Results {
						add(e, locals)
					}
				}
			case *ast.CallExpr:
				for _, a := range reasonArgs(n) {
					add(a, locals)
				}
				if name := exprName(n.Fun); wrapped[fn.Name.Name] && (name == "fmt.Errorf" || name == "errors.New") {
					add(n, nil)
				}
			}
			return true
		})
	}
	return texts
}

// called returns the name of the function that a call calls.
func called(c *ast.CallExpr) string {
	name := exprName(c.Fun)
	return name[strings.LastIndex(name, ".")+1:]
}

// exprName returns the name in an identifier, a selector or a call's function, such as "err.Error".
func exprName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return exprName(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		return exprName(e.Fun)
	}
	return ""
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9.*]*[a-zA-Z]`)

// textOf returns the text of an expression, with the wildcard for parts that are known only at run time.
func textOf(e ast.Expr, consts map[string]string, locals map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && !strings.Contains(text, wildcard)
	case *ast.Ident:
		if value, ok := locals[e.Name]; ok {
			return textOf(value, consts, nil)
		}
		text, ok := consts[e.Name]
		return text, ok
	case *ast.BinaryExpr:
		left, ok := textOf(e.X, consts, locals)
		right, also := textOf(e.Y, consts, locals)
		if !also {
			right = wildcard
		}
		return left + right, ok && e.Op == token.ADD
	case *ast.CallExpr:
		name := exprName(e.Fun)
		if len(e.Args) == 0 || !slices.Contains([]string{"string", "fmt.Sprintf", "fmt.Errorf", "errors.New"}, name) {
			return "", false
		}
		text, ok := textOf(e.Args[0], consts, locals)
		if strings.HasPrefix(name, "fmt.") {
			text = verb.ReplaceAllString(text, wildcard)
		}
		return text, ok
	}
	return "", false
}

// constsOf returns the constants of a file and their values.
func constsOf(f *ast.File) map[string]ast.Expr {
	all := map[string]ast.Expr{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, n := range v.Names {
				if i < len(v.Values) {
					all[n.Name] = v.Values[i]
				}
			}
		}
	}
	return all
}

// stringConsts returns the string constants of a package.
func stringConsts(files map[string]*ast.File) map[string]string {
	texts := map[string]string{}
	for range 2 { // one may refer to another
		for _, f := range files {
			for name, value := range constsOf(f) {
				if text, ok := textOf(value, texts, nil); ok {
					texts[name] = text
				}
			}
		}
	}
	return texts
}

// write writes the table. If several plugins used a text in different releases, it keeps those of the newest release with
// that text.
func write(path string, given map[string]map[string][]string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by generate.go from k8s.io/kubernetes %s to %s. DO NOT EDIT.\n\npackage verdict\n\n", releases[0], releases[len(releases)-1])
	fmt.Fprint(&b, "// upstreamReasons are the reasons of upstream's plugins. A * stands for any text.\nvar upstreamReasons = []upstreamReason{\n")
	for _, text := range slices.Sorted(maps.Keys(given)) {
		plugins := slices.Collect(maps.Keys(given[text]))
		newest := slices.MaxFunc(plugins, func(a, b string) int { return cmp.Compare(last(given[text][a]), last(given[text][b])) })
		plugins = slices.DeleteFunc(plugins, func(p string) bool { return last(given[text][p]) < last(given[text][newest]) })
		slices.Sort(plugins)
		for _, p := range plugins {
			fmt.Fprintf(&b, "\t{%q, %q}, // %s to %s\n", text, p, given[text][p][0], last(given[text][p]))
		}
	}
	fmt.Fprint(&b, "}\n")
	src, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(path, src, 0o644)
}

func last(all []string) string { return all[len(all)-1] }
