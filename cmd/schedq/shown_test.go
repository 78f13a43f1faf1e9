package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "update the output of commands in the documentation")

// blanks are trailing spaces.
var blanks = regexp.MustCompile(`(?m) +$`)

// TestShown: the documentation shows the actual output of commands about embedded recordings. With
// -update, it is rewritten.
func TestShown(t *testing.T) {
	files, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before := strings.Split(string(text), "\n")
		var after []string
		for len(before) > 0 {
			line := before[0]
			after, before = append(after, line), before[1:]
			command, ok := strings.CutPrefix(line, "$ schedq ")
			if !ok || !strings.Contains(command, "--recording ") {
				continue
			}
			shown++
			end := slices.IndexFunc(before, func(line string) bool { return line == "```" || strings.HasPrefix(line, "$ ") })
			if end < 0 {
				t.Fatalf("%s: the output of %q has no end", name, line)
			}
			want := strings.TrimSpace(strings.Join(before[:end], "\n"))
			code, out, stderr := schedq(t, "", strings.Fields(command)...)
			if code != 0 || stderr != "" {
				t.Errorf("%s: %s: exit %d, %s", filepath.Base(name), line, code, stderr)
			}
			got := strings.TrimRight(blanks.ReplaceAllString(out, ""), "\n")
			if strings.TrimSpace(got) != want && !*update {
				t.Errorf("%s: %s prints\n%s\nbut the documentation shows\n%s", filepath.Base(name), line, got, want)
			}
			after = append(after, strings.Split(got, "\n")...)
			if before = before[end:]; before[0] != "```" {
				after = append(after, "")
			}
		}
		if !*update {
			continue
		}
		if err := os.WriteFile(name, []byte(strings.Join(after, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if shown < 10 {
		t.Errorf("the documentation shows %d commands", shown)
	}
}
