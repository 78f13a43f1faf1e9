package keymap_test

import (
	"flag"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/schedq/schedq/keymap"
)

var update = flag.Bool("update", false, "write docs/reference/keys.md")

func TestNoKeyHasTwoMeaningsInOneContext(t *testing.T) {
	for _, c := range keymap.Conflicts(keymap.Default()) {
		t.Errorf("%q is bound to %s and to %s (%s)", c.Key, c.First, c.Second, c.Context)
	}
}

// TestFewSingleKeys: the number of keys that are not part of a two-key word is limited. Keys common
// to all lists and terminal programs are not counted.
func TestFewSingleKeys(t *testing.T) {
	const most = 39
	var single []string
	for _, b := range keymap.Default() {
		for _, key := range b.Keys {
			if b.Context == keymap.Board && utf8.RuneCountInString(key) == 1 {
				single = append(single, key)
			}
		}
	}
	for _, l := range keymap.New(keymap.Default()).Leaders() {
		single = append(single, l.Key)
	}
	if len(single) > most {
		t.Errorf("%d single keys on the board, at most %d: %q", len(single), most, single)
	}
}

func TestBindingsAreComplete(t *testing.T) {
	listed := make(map[keymap.Group]bool)
	for _, g := range keymap.Groups() {
		listed[g] = true
	}
	ids := make(map[keymap.ID]bool)
	for _, b := range keymap.Default() {
		switch {
		case ids[b.ID]:
			t.Errorf("duplicate ID %s", b.ID)
		case len(b.Keys) == 0 && b.Context != keymap.Board, b.Name == "", b.Description == "", b.Context == "":
			t.Errorf("%s lacks keys, name, description or context: %+v", b.ID, b)
		case !listed[b.Group]:
			t.Errorf("%s is in group %q, which Groups does not list", b.ID, b.Group)
		}
		ids[b.ID] = true
	}
}

func TestLookup(t *testing.T) {
	m := keymap.New(keymap.Default())
	if b, ok := m.Lookup(keymap.Board, "c"); !ok || b.ID != keymap.CopyMore {
		t.Errorf("c on the board is %q, %t", b.ID, ok)
	}
	if b, ok := m.Lookup(keymap.Board, "g p"); !ok || b.ID != keymap.GoToPod {
		t.Errorf("g p on the board is %q, %t", b.ID, ok)
	}
	if b, ok := m.Lookup(keymap.List, "backspace"); !ok || b.ID != keymap.ListErase {
		t.Errorf("backspace in a list is %q, %t", b.ID, ok)
	}
	if b, ok := m.Lookup(keymap.Prompt, "q"); ok {
		t.Errorf("q in a prompt is %q: it must be typed", b.ID)
	}
}

func TestDocsAreUpToDate(t *testing.T) {
	const path = "../docs/reference/keys.md"
	want := keymap.New(keymap.Default()).Markdown()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: run go test ./keymap -update", path)
	}
}
