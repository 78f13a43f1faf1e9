package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRules: each rule can be switched off in the code as it is.
func TestRules(t *testing.T) {
	for _, r := range rules {
		text, err := os.ReadFile(filepath.Join("..", r.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), r.old); n != 1 {
			t.Errorf("%s: %s contains the text to replace %d times", r.name, r.file, n)
		}
		if !strings.Contains(r.new, "OFF") {
			t.Errorf("%s: the new text has no switch", r.name)
		}
	}
}
