package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestNotLinked: what the program has no use for, and what would make it twice as large, is not in it.
func TestNotLinked(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pattern, why := range map[string]string{
		"plugin":                 "the linker keeps every method of a program that can load others",
		"sigs.k8s.io/kustomize/": "nothing here builds manifests",
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

// TestInstallable: go install of a version refuses modules that replace or exclude others.
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
