package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/cmd/schedq/command"
)

// Where everybody may write, somebody else may have put the key.
func TestAFolderThatEverybodyMayWriteTo(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "all")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "hostkey")
	for _, mode := range []os.FileMode{0o777, 0o777 | os.ModeSticky, 0o702} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := command.LoadHostKey(t.Context(), path); err == nil || !strings.Contains(err.Error(), "everybody may write to: chmod o-w "+folder) {
			t.Errorf("%s: %v", mode, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a key was made", mode)
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := command.LoadHostKey(t.Context(), path); err != nil {
		t.Error(err)
	}
}
