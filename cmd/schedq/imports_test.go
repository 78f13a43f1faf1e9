package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestNotLinked: the program does not link packages that it does not need and that double its size.
func TestNotLinked(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pattern, why := range map[string]string{
		"plugin":                 "it makes the linker keep every method",
		"sigs.k8s.io/kustomize/": "schedq builds no manifests",
		"k8s.io/cli-runtime/":    "it imports kustomize",
		"testing":                "it is for tests",
	} {
		for _, p := range strings.Fields(string(out)) {
			if p == pattern || strings.HasSuffix(pattern, "/") && strings.HasPrefix(p, pattern) {
				t.Errorf("%s is linked: %s", p, why)
			}
		}
	}
}

// TestInstallable: go install rejects modules with replace or exclude directives.
func TestInstallable(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var module struct{ Replace, Exclude []any }
	if err := json.Unmarshal(out, &module); err != nil || len(module.Replace)+len(module.Exclude) > 0 {
		t.Errorf("go.mod replaces %v and excludes %v, %v", module.Replace, module.Exclude, err)
	}
}
