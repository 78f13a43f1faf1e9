package hostile

import (
	"os"
	"path/filepath"
	"testing"
)

// program is the path of the program under test. The test is skipped if none was built.
func program(t testing.TB) string {
	t.Helper()
	path := os.Getenv("SCHEDQ_PROGRAM")
	if path == "" {
		t.Skip("SCHEDQ_PROGRAM names no program to try: make signals and make hostile build one")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// surroundings is an environment in which nothing is kept from a run before, and nothing of this machine is read.
func surroundings(t testing.TB) []string {
	t.Helper()
	home := t.TempDir()
	return []string{
		"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"KUBECONFIG=" + filepath.Join(home, "no-kubeconfig"), "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"),
	}
}
