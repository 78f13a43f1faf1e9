// Command make writes which events the plugins of a release of kube-scheduler registered for, out of that release's
// own code:
//
//	go run ./queue/cycle/registered/make v1.31.4
//
// It builds the scheduler of that release in a Go module of its own, which takes minutes, has it make its map of
// queueing hints with the feature gates and the plugins that it has by default, and writes the map to
// queue/cycle/registered/v1.31.txt. It is run by hand, once for each minor release.
package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"
)

//go:embed hintmap.go.txt
var program []byte

func main() {
	if len(os.Args) != 2 || !strings.HasPrefix(os.Args[1], "v1.") {
		fmt.Fprintln(os.Stderr, "usage: go run ./queue/cycle/registered/make v1.MINOR.PATCH")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

// write writes the file of that version of kube-scheduler.
func write(version string) error {
	dir, err := os.MkdirTemp("", "registered")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), program, 0o600); err != nil {
		return err
	}
	if err := writeModule(dir, version); err != nil {
		return err
	}
	actions, err := actionTypes(dir)
	if err != nil {
		return err
	}
	table, err := run(dir, "go", append([]string{"run", "-trimpath", "."}, actions...)...)
	if err != nil {
		return err
	}
	minor := strings.Join(strings.SplitN(version, ".", 3)[:2], ".")
	text := fmt.Sprintf("# kube-scheduler %s, made by its own buildQueueingHintMap: plugin, resource, actions, hint function.\n%s", version, table)
	return os.WriteFile(filepath.Join("queue", "cycle", "registered", minor+".txt"), []byte(text), 0o644)
}

// writeModule writes the go.mod of a module that requires that version of Kubernetes. Its go.mod has each staging
// module at v0.0.0, in a folder that the module does not have: each is replaced by its own release.
func writeModule(dir, version string) error {
	found, err := run(dir, "go", "mod", "download", "-json", "k8s.io/kubernetes@"+version)
	if err != nil {
		return err
	}
	_, path, _ := strings.Cut(found, `"GoMod": "`)
	path, _, _ = strings.Cut(path, `"`)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	upstream, err := modfile.Parse(path, data, nil)
	if err != nil {
		return err
	}
	var m modfile.File
	for _, err := range []error{
		m.AddModuleStmt("registered"), m.AddGoStmt(strings.TrimPrefix(runtime.Version(), "go")), m.AddRequire("k8s.io/kubernetes", version),
	} {
		if err != nil {
			return err
		}
	}
	for _, r := range upstream.Replace {
		if strings.HasPrefix(r.Old.Path, "k8s.io/") {
			if err := m.AddReplace(r.Old.Path, "", r.Old.Path, "v0"+strings.TrimPrefix(version, "v1")); err != nil {
				return err
			}
		}
	}
	text, err := m.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), text, 0o600)
}

// actionTypes returns the names of the bits of an ActionType, lowest first. The package that declares it has moved, and
// which bit is whose changes.
func actionTypes(dir string) ([]string, error) {
	for _, module := range []string{"k8s.io/kube-scheduler", "k8s.io/kubernetes"} {
		root, err := run(dir, "go", "list", "-m", "-f", "{{.Dir}}", module)
		if err != nil {
			continue
		}
		for _, sub := range []string{"framework", "pkg/scheduler/framework"} {
			files, err := filepath.Glob(filepath.Join(strings.TrimSpace(root), sub, "*.go"))
			if err != nil {
				return nil, err
			}
			for _, file := range files {
				if names := bitsIn(file); names != nil {
					return names, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("no file declares ActionType's bits")
}

// bitsIn returns the names in file's declaration of constants that begins with Add ActionType = 1 << iota, or nil.
func bitsIn(file string) []string {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil
	}
	for _, decl := range parsed.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST || d.Specs[0].(*ast.ValueSpec).Names[0].Name != "Add" {
			continue
		}
		var names []string
		for i, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			if i > 0 && v.Values != nil {
				break // All and Update: several bits
			}
			names = append(names, v.Names[0].Name)
		}
		return names
	}
	return nil
}

// run runs a command in dir and returns what it says.
func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}
