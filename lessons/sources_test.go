package lessons_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/lessons"
)

// TestSources: the words quoted from upstream are in upstream's file. Files of the release in
// go.mod are always checked, others if their module is in the module cache.
func TestSources(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	own, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	all, err := lessons.All()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, l := range all {
		for _, c := range l.AllClaims() {
			if c.Source.File == "" {
				continue
			}
			at := strings.TrimSuffix(dir, own) + c.Source.Release
			if _, err := os.Stat(at); err != nil && c.Source.Release != own {
				continue
			}
			text, err := os.ReadFile(filepath.Join(at, filepath.FromSlash(c.Source.File)))
			if err != nil {
				t.Errorf("%s:%d: %v", l.File, c.Line, err)
			} else if !bytes.Contains(text, []byte(c.Source.Words)) {
				t.Errorf("%s:%d: %s of %s does not have %q", l.File, c.Line, c.Source.File, c.Source.Release, c.Source.Words)
			}
			checked++
		}
	}
	if checked == 0 {
		t.Error("no source was checked")
	}
}
