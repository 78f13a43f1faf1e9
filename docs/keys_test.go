package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/schedq/schedq/keymap"
)

// TestKeysInDocs checks that the keys that a page says to press are bound, or are the first of two. The room's page has keys of its
// own.
func TestKeysInDocs(t *testing.T) {
	keys := keymap.New(keymap.Default())
	bound := func(key string) bool {
		for _, context := range []keymap.Context{keymap.Board, keymap.Lesson, keymap.Question} {
			if b, ok := keys.Lookup(context, strings.NewReplacer("pgdn", "pgdown").Replace(key)); ok || b.ID != "" {
				return true
			}
		}
		return false
	}
	press := regexp.MustCompile("(?s)[Pp]ress\\s+((?:`[^`]+`(?:,\\s+|\\s+(?:or|and)\\s+|))+)")
	code := regexp.MustCompile("`([^`]+)`")
	files, err := filepath.Glob("*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, name := range append(files, "../README.md") {
		if strings.HasSuffix(name, "room.md") || strings.HasSuffix(name, "keys.md") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, found := range press.FindAllStringSubmatch(string(data), -1) {
			said = append(said, found[1])
		}
		for _, table := range strings.Split(string(data), "\n| key |")[1:] {
			rows, _, _ := strings.Cut(table, "\n\n")
			for _, row := range strings.Split(rows, "\n")[2:] {
				said = append(said, strings.Split(row, " | ")[0])
			}
		}
		for _, text := range said {
			for _, key := range code.FindAllStringSubmatch(text, -1) {
				checked++
				if !bound(key[1]) {
					t.Errorf("%s: %q is not a key", name, key[1])
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d keys were found", checked)
	}
}
