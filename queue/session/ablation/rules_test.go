package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRules: the text that each rule replaces occurs once in its file.
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
