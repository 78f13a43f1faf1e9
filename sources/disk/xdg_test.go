package disk_test

import (
	"path/filepath"
	"testing"

	"github.com/schedq/schedq/sources/disk"
)

// A variable counts at the moment of the call, and only if it is an absolute path.
func TestFolders(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for variable, folder := range map[string]struct {
		of        func() (string, error)
		otherwise string
	}{
		"XDG_CONFIG_HOME": {disk.ConfigFolder, filepath.Join(home, ".config", "schedq")},
		"XDG_STATE_HOME":  {disk.StateFolder, filepath.Join(home, ".local", "state", "schedq")},
	} {
		for value, want := range map[string]string{
			"":         folder.otherwise,
			"relative": folder.otherwise,
			"~/home":   folder.otherwise,
			other:      filepath.Join(other, "schedq"),
		} {
			t.Setenv(variable, value)
			if got, err := folder.of(); got != want || err != nil {
				t.Errorf("%s=%q: %s, %v, want %s", variable, value, got, err, want)
			}
		}
	}
}

// Without a home there is a folder only where a variable names one.
func TestWithoutHome(t *testing.T) {
	for _, variable := range []string{"HOME", "USERPROFILE", "home", "XDG_CONFIG_HOME"} {
		t.Setenv(variable, "")
	}
	if got, err := disk.ConfigFolder(); got != "" || err == nil {
		t.Errorf("%q, %v", got, err)
	}
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	if got, err := disk.StateFolder(); got != filepath.Join(dir, "schedq") || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
