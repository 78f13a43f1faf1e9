package tui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/sources"
)

// namesAKey matches a key in a sentence: a letter other than the words a, A and I, a sign between
// blanks, or esc, enter and the like.
var namesAKey = regexp.MustCompile(`(^|[ (])([b-zB-HJ-Z]|esc|enter|tab|space|backspace|pgup|pgdn)([ :,)]|$)|[ (][,.{}"?!<;-] `)

// notKeys are texts that namesAKey mistakes for keys.
var notKeys = []string{
	"From a to z", " 30 s,", " 30 s)", " 60 s", "1 s ", "1 s,", "in-flight - ", "digits, - and .", "(s)",
}

// TestNoTextNamesAKeyByItself: no text in the code contains a key, since the user may have rebound
// it; texts use the key map.
func TestNoTextNamesAKeyByItself(t *testing.T) {
	for _, path := range []string{".", "../keymap/bindings.go"} {
		scanTexts(t, path)
	}
}

// isWord reports whether text is the two keys of a built-in binding.
func isWord(text string) bool {
	_, word := keymap.New(keymap.Default()).Lookup(keymap.Board, text)
	return word
}

// scanTexts fails the test for each text in the code below root that names a key.
func scanTexts(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(l.Value)
			if err != nil || !strings.Contains(strings.TrimSpace(text), " ") || isWord(text) {
				return true
			}
			for _, not := range notKeys {
				text = strings.ReplaceAll(text, not, "")
			}
			if namesAKey.MatchString(text) {
				t.Errorf("%s: %q names a key", files.Position(l.Pos()), text)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestScreensNameOwnKeys: with every action on a custom key, no screen shows a default key.
func TestScreensNameOwnKeys(t *testing.T) {
	t.Parallel()
	keys := map[keymap.ID][]string{}
	for i, b := range keymap.Default() {
		keys[b.ID] = []string{string(rune('Ѐ' + i))} // Cyrillic letters
	}
	own, problems := keymap.Override(keymap.Default(), keys)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, view := range views {
		if view.name == "stack" {
			continue // it draws with letters
		}
		for _, size := range sizes {
			synctest.Test(t, func(t *testing.T) {
				p := sit(t, size[0], size[1], paused(t, sample), Options{Keys: own})
				p.goToOwn(moment).do(keymap.FocusUnsched, keymap.RowDown)
				view.open(p)
				for y := range size[1] {
					row := p.row(y)
					for _, not := range notKeys {
						row = strings.ReplaceAll(row, not, "")
					}
					if namesAKey.MatchString(row) {
						t.Errorf("%s at %d columns shows a key that is not configured: %q", view.name, size[0], row)
					}
				}
			})
		}
	}
}

// goToOwn moves to a time with custom keys.
func (p *person) goToOwn(when string) *person {
	return p.do(keymap.Seek).paste(when).do(keymap.PromptAccept)
}

// TestLessonsNameNoKeyByThemselves: texts and hints of lessons have actions in braces, which become
// the configured keys, and in a lesson each key runs the action that the text means.
func TestLessonsNameNoKeyByThemselves(t *testing.T) {
	all, err := lessons.All()
	if err != nil {
		t.Fatal(err)
	}
	seconds := regexp.MustCompile(` - |\d s\b|2\^\(n-1\)|attempt n `)
	inBraces := regexp.MustCompile(`\{([a-z-]+)\}`)
	keys := keymap.New(keymap.Default())
	for _, l := range all {
		for _, s := range l.Steps {
			texts := []sources.SafeText{s.Text}
			if s.Goal != nil {
				texts = append(texts, s.Goal.Hints...)
			}
			for _, text := range texts {
				if left := seconds.ReplaceAllString(string(text), "it"); namesAKey.MatchString(left) {
					t.Errorf("%s, %s names a key: %s", l.Name, s.Title, text)
				}
				if said := keys.Say(string(text)); strings.Contains(said, "{") {
					t.Errorf("%s, %s names an unknown action: %s", l.Name, s.Title, said)
				}
				for _, named := range inBraces.FindAllStringSubmatch(string(text), -1) {
					meant, _ := keys.ByID(keymap.ID(named[1]))
					if b, ok := keys.Lookup(keymap.Lesson, meant.Key()); ok && meant.Context == keymap.Board && b.ID != meant.ID && b.ID != keymap.LessonBlank {
						t.Errorf("%s, %s: in a lesson %s runs %s, not %s", l.Name, s.Title, meant.Key(), b.ID, meant.ID)
					}
				}
			}
		}
	}
}
