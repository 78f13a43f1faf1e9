package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeys prints the default keys, and those of a configuration file.
func TestKeys(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if code, out, _ := schedq(t, "", "keys"); code != 0 || !strings.Contains(out, "g p") || !strings.Contains(out, "go to pod") {
		t.Errorf("exit %d,\n%s", code, out)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("keys: {go-to-pod: f9}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SCHEDQ_CONFIG", path)
	code, out, _ := schedq(t, "", "keys", "-o", "json")
	if code != 0 || !strings.Contains(out, `"f9"`) || strings.Contains(out, `"g p"`) {
		t.Errorf("exit %d,\n%s", code, out)
	}
}
