package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostKeyCreatedOnce: the key is created once, with mode 0600, and read afterwards.
func TestHostKeyCreatedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room", "hostkey")
	first, err := loadHostKey(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := loadHostKey(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.PublicKey().Marshal(), second.PublicKey().Marshal()) {
		t.Error("the key changed")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder contains %v, %v", entries, err)
	}
}

// TestHostKeyInvalid: an invalid or readable key is reported and not replaced.
func TestHostKeyInvalid(t *testing.T) {
	folder := t.TempDir()
	for name, test := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"nonsense": {"nonsense", 0o600, "use a private key without a passphrase"},
		"empty":    {"", 0o600, "use a private key"},
		"open":     {"nonsense", 0o644, "is readable by others: run chmod 600"},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(test.text), test.mode); err != nil {
			t.Fatal(err)
		}
		_, err := loadHostKey(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if text, _ := os.ReadFile(path); string(text) != test.text {
			t.Errorf("%s was overwritten", name)
		}
	}
	for _, path := range []string{folder, filepath.Join(folder, "empty", "hostkey")} {
		if _, err := loadHostKey(t.Context(), path); err == nil {
			t.Errorf("a key at %s", path)
		}
	}
}

// TestHostKeyInWorldWritableFolder: others could have replaced the key.
func TestHostKeyInWorldWritableFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "all")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "hostkey")
	for _, mode := range []os.FileMode{0o777, 0o777 | os.ModeSticky, 0o702} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := loadHostKey(t.Context(), path); err == nil || !strings.Contains(err.Error(), "world-writable folder: run chmod o-w "+folder) {
			t.Errorf("%s: %v", mode, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a key was created", mode)
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := loadHostKey(t.Context(), path); err != nil {
		t.Error(err)
	}
}
