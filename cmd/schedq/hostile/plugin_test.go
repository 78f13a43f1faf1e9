//go:build linux

package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlacesAsPlugin: called as kubectl calls a plugin, it says what one types to have kubectl call it.
func TestPlacesAsPlugin(t *testing.T) {
	plugin := filepath.Join(t.TempDir(), "kubectl-schedq")
	if err := os.Symlink(program(t), plugin); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--help":            "\n  kubectl schedq [command]\n",
		"watch --help":      "\n  kubectl schedq watch [FILE...] [flags]\n",
		"replay --help":     "| kubectl schedq replay -\n",
		"attach --nonsense": "See kubectl schedq --help.\n",
	} {
		cmd := exec.CommandContext(t.Context(), plugin, strings.Fields(args)...)
		cmd.Env = surroundings(t)
		out, _ := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) || strings.Contains(string(out), "kubectl kubectl") {
			t.Errorf("%s: no %q in\n%s", args, want, out)
		}
	}
}
