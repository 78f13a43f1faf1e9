package hostile

import (
	"os"
	"path/filepath"
	"testing"
)

// program returns the path of the program under test, or skips the test.
func program(t testing.TB) string {
	t.Helper()
	path := os.Getenv("SCHEDQ_PROGRAM")
	if path == "" {
		t.Skip("SCHEDQ_PROGRAM is not set: use make signals or make hostile")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// cleanVariables returns environment variables with a new home and without a kubeconfig.
func cleanVariables(t testing.TB) []string {
	t.Helper()
	home := t.TempDir()
	return []string{
		"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"KUBECONFIG=" + filepath.Join(home, "no-kubeconfig"), "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"),
	}
}
