package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/cmd/schedq/command"
)

func TestTheKeyIsMadeOnceAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room", "hostkey")
	first, err := command.LoadHostKey(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := command.LoadHostKey(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.PublicKey().Marshal(), second.PublicKey().Marshal()) {
		t.Error("the key is another one the second time")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside it are %v, %v", entries, err)
	}
}

func TestAKeyThatIsNoneIsNotReplaced(t *testing.T) {
	folder := t.TempDir()
	for name, test := range map[string]struct {
		text string
		mode os.FileMode
		says string
	}{
		"nonsense": {"nonsense", 0o600, "is no private key without a passphrase"},
		"empty":    {"", 0o600, "is no private key"},
		"open":     {"nonsense", 0o644, "can be read by others: chmod 600"},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(test.text), test.mode); err != nil {
			t.Fatal(err)
		}
		_, err := command.LoadHostKey(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if text, _ := os.ReadFile(path); string(text) != test.text {
			t.Errorf("%s was overwritten", name)
		}
	}
	if _, err := command.LoadHostKey(t.Context(), folder); err == nil {
		t.Error("a folder is a key")
	}
	if _, err := command.LoadHostKey(t.Context(), filepath.Join(folder, "empty", "hostkey")); err == nil {
		t.Error("a key is kept in what is no folder")
	}
}
