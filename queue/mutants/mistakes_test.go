package main

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const source = `package p

func f(a, b int, ok bool) int {
	if !ok && a == b {
		a++
	}
	for i := 0; i < 2; i++ {
		b = a + i
	}
	return b
}
`

// asleep is source with all its mistakes asleep. Those of one place stand in one another, the outermost before and behind the others.
const asleep = `package p

func f(a, b int, ok bool) int {
	if !mistaken(0) && ((mistaken(1) != ((mistaken(1) != ((mistaken(2) == (ok)))) && (mistaken(1) != ((mistaken(3) != (a == b))))))) {
		if !mistaken(4) { a++ }
	}
	for i := mistakenNumber(5, 0); mistakenLess(6, i , mistakenNumber(7, 2)); func() { if !mistaken(8) { i++ } }() {
		if !mistaken(9) { b = mistakenPlus(10, a , i) }
	}
	return b
}
`

// TestMistakes: which mistakes can be made in a piece of code, what each is called, and how they sleep in it.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := mistakesOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var edits []edit
	for _, m := range all {
		names = append(names, m.name)
		edits = append(edits, m.asleep...)
	}
	want := []string{
		"p.go f: !ok && a == b => false", "p.go f: && => ||", "p.go f: ! => nothing", "p.go f: == => !=", "p.go f: a++ => nothing",
		"p.go f: 0 => 1", "p.go f: < => <=", "p.go f: 2 => 3", "p.go f: i++ => nothing", "p.go f: b = a + i => nothing", "p.go f: + => -",
	}
	if got := strings.Join(names, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the mistakes are\n%s", got)
	}
	if got := edited(source, edits); got != asleep {
		t.Errorf("asleep they are\n%s", got)
	}
}

// TestReadLived: who lived stands in what was printed.
func TestReadLived(t *testing.T) {
	file := filepath.Join(t.TempDir(), "printed")
	if err := os.WriteFile(file, []byte("queue/a.go:3: lives: a.go f: < => <=\nqueue: 1 of 2 mistakes were noticed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lived, err := readLived(file)
	if err != nil || len(lived) != 1 || !lived["a.go f: < => <="] {
		t.Errorf("%v lived, %v", lived, err)
	}
	if lived, err := readLived(""); lived != nil || err != nil {
		t.Errorf("without an earlier run %v lived, %v", lived, err)
	}
}

// TestEquivalent: each mistake that is named as equivalent can still be made.
func TestEquivalent(t *testing.T) {
	t.Chdir("../..")
	dirs := map[string]bool{}
	for line := range strings.Lines(equivalentFile) {
		file, _, _ := strings.Cut(line, " ")
		dirs[path.Dir(file)] = true
	}
	for dir := range dirs {
		all, err := mistakesOf(dir)
		if err != nil {
			t.Errorf("equivalent.txt: %v", err)
		} else if _, err := readEquivalent(dir, all); err != nil {
			t.Error(err)
		}
	}
}
