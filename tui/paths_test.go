package tui

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/sources/manifest"
)

// TestFilesAreCompleted: a prompt for a file completes the names in the typed folder, and continues
// into folders.
func TestFilesAreCompleted(t *testing.T) {
	folders := map[string][]string{
		".":      {".hidden", "logs/", "pod.yaml", "with blank.yaml", "\x1b[2Jevil"},
		"logs/":  {"audit.log.gz", "old/", "sched.log.gz"},
		"/deep/": {"a.yaml"},
	}
	read := ""
	o := Options{
		ReadManifest: func(path string) (*manifest.Manifest, error) { read = path; return nil, errors.New("no manifest") },
		ReadFolder: func(path string) ([]string, error) {
			if names, ok := folders[path]; ok {
				return slices.Clone(names), nil
			}
			return nil, os.ErrNotExist
		},
		WriteFile: folder{}.write,
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), o)
		p.goTo(moment).try(keymap.Apply).sees("logs/", "pod.yaml").seesNot("hidden").seesNot("blank").seesNot("evil")
		p.press("l")
		p.press("tab")
		p.sees("apply: logs/", "audit.log.gz").press("tab") // a single candidate: continue into it
		p.sees("apply: logs/audit.log.gz").press("tab")
		p.sees("apply: logs/old/").press("tab")
		p.sees("apply: logs/sched.log.gz").press("esc")
		p.try(keymap.Apply).paste(".h").press("tab")
		p.sees("apply: .hidden").press("esc")
		p.try(keymap.Apply).paste("/deep/").sees("/deep/a.yaml").press("tab")
		p.press("enter")
		if p.sees("no manifest"); read != "/deep/a.yaml" {
			t.Errorf("the path read is %q", read)
		}
		p.try(keymap.Apply).paste("nowhere/x").seesNot("pod.yaml").press("esc")
		p.do(keymap.Save).enter("minutes").seesNot("pod.yaml").press("esc") // a time is not a file
	})
}

// TestReadFolder: readFolder returns the names in a folder, with a slash after those of folders.
func TestReadFolder(t *testing.T) {
	at := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(at, "b"), 0o755), os.WriteFile(filepath.Join(at, "c"), nil, 0o600), os.WriteFile(filepath.Join(at, "a"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if names, err := readFolder(at); err != nil || !slices.Equal(names, []string{"a", "b/", "c"}) {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := readFolder(filepath.Join(at, "none")); err == nil {
		t.Error("a missing folder can be read")
	}
}
