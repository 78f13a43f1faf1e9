package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestGlossary: no text says in another word what glossary.md has a word for: golden screens, lessons,
// and documents outside of code.
func TestGlossary(t *testing.T) {
	banned := bannedWords(t)
	check := func(where, text string) {
		for _, found := range banned.FindAllString(text, -1) {
			t.Errorf("%s says %q: glossary.md has another word\n  %s", where, found, strings.TrimSpace(text[:min(len(text), 160)]))
		}
	}
	for _, pattern := range []string{"*/*.md", "../*.md", "../lessons/*.yaml", "../lessons/*.txt", "../tui/testdata/*/*.txt", "../tui/testdata/*.txt", "../room/testdata/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			for i, line := range strings.Split(prose(t, name), "\n") {
				check(name+":"+strconv.Itoa(i+1), line)
			}
		}
	}
}

// bannedWords matches what the last column of the glossary has.
func bannedWords(t *testing.T) *regexp.Regexp {
	text, err := os.ReadFile("reference/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[3], -1) {
				all = append(all, regexp.QuoteMeta(word[1]))
			}
		}
	}
	if len(all) < 5 {
		t.Fatalf("the glossary bans %q", all)
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)\b`)
}

// prose is what a file says outside of code, with its lines where they were.
func prose(t *testing.T, name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	text = regexp.MustCompile(`\w+[│|]`).ReplaceAllString(text, "") // a word that a popup cuts off
	if strings.HasSuffix(name, ".md") {
		blank := func(code string) string { return strings.Repeat("\n", strings.Count(code, "\n")) }
		text = regexp.MustCompile("(?s)```.*?```").ReplaceAllStringFunc(text, blank)
		text = regexp.MustCompile("`[^`]*`").ReplaceAllStringFunc(text, blank)
	}
	return text
}
