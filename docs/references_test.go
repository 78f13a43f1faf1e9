package docs

import (
	"go/types"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// mostUpward is how many of a hundred references between files may run against their order: a reader who goes down a package file by
// file meets nearly all of what a file speaks of below it.
const mostUpward = 5

// TestReferences holds that the files of queue/ and tui/ can be read from the top down. Between packages the compiler sees to that;
// within one, the order of its files is that in which the fewest references run up.
func TestReferences(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads the types of both trees")
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: ".."}, "./queue/...", "./tui/...")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	all, up := 0, 0
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Fatalf("%s: %v", p.PkgPath, p.Errors[0])
		}
		within := map[string]map[string]bool{}
		for reference := range referencesOf(p, root) {
			all++
			if from, to := reference[0], reference[1]; filepath.Dir(from) == filepath.Dir(to) {
				if within[from] == nil {
					within[from] = map[string]bool{}
				}
				within[from][to] = true
			}
		}
		fewest := upward(within)
		up += fewest
		if fewest > 0 {
			t.Logf("%s: %d run up", p.PkgPath, fewest)
		}
	}
	if all == 0 {
		t.Fatal("no file speaks of another one")
	}
	share := 100 * float64(up) / float64(all)
	t.Logf("%d of %d references between files run up: %.1f %%", up, all, share)
	if share > mostUpward {
		t.Errorf("%.1f %% of the references between files run up, %d at the most", share, mostUpward)
	}
}

// referencesOf are the pairs of files of which the first, one of p's, names what is declared in the second, of queue/ or tui/.
func referencesOf(p *packages.Package, root string) map[[2]string]bool {
	references := map[[2]string]bool{}
	for name, object := range p.TypesInfo.Uses {
		if v, ok := object.(*types.Var); object.Pkg() == nil || ok && !v.IsField() && v.Parent() != object.Pkg().Scope() {
			continue // of the language, or local
		}
		from, to := p.Fset.Position(name.Pos()).Filename, p.Fset.Position(object.Pos()).Filename
		if in, err := filepath.Rel(root, to); err == nil && from != to && (strings.HasPrefix(in, "queue") || strings.HasPrefix(in, "tui")) {
			references[[2]string{from, to}] = true
		}
	}
	return references
}

// upward is how many references run up in the best order of files that is found from many beginnings.
func upward(references map[string]map[string]bool) int {
	var files []string
	for from, of := range references {
		files = append(files, from)
		for to := range of {
			files = append(files, to)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	fewest := len(files) * len(files)
	random := rand.New(rand.NewSource(1))
	for range 40 {
		random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		for settle(files, references) {
		}
		up := 0
		for i, from := range files {
			for _, to := range files[:i] {
				if references[from][to] {
					up++
				}
			}
		}
		fewest = min(fewest, up)
	}
	return fewest
}

// settle moves each file to where the fewest of its references run up, and reports whether any moved.
func settle(files []string, references map[string]map[string]bool) bool {
	moved := false
	for i, file := range slices.Clone(files) {
		i = slices.Index(files, file)
		best, to, change := 0, i, 0
		consider := func(at int, above bool) {
			gain := 1
			if above {
				gain = -1
			}
			if references[file][files[at]] {
				change += gain
			}
			if references[files[at]][file] {
				change -= gain
			}
			if change < best {
				best, to = change, at
			}
		}
		for at := i - 1; at >= 0; at-- {
			consider(at, true)
		}
		change = 0
		for at := i + 1; at < len(files); at++ {
			consider(at, false)
		}
		if to != i {
			moved = true
			files = slices.Insert(slices.Delete(files, i, i+1), to, file)
		}
	}
	return moved
}
