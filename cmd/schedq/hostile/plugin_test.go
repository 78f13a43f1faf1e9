//go:build linux

package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlacesAsPlugin: run as a kubectl plugin, the help shows "kubectl schedq".
func TestPlacesAsPlugin(t *testing.T) {
	plugin := filepath.Join(t.TempDir(), "kubectl-schedq")
	if err := os.Symlink(program(t), plugin); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--help":            "\n  kubectl schedq [command]\n",
		"watch --help":      "\n  kubectl schedq watch [FILE...] [flags]\n",
		"replay --help":     "| kubectl schedq replay -\n",
		"attach --nonsense": "See kubectl schedq attach --help.\n",
	} {
		cmd := exec.CommandContext(t.Context(), plugin, strings.Fields(args)...)
		cmd.Env = cleanVariables(t)
		out, _ := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) || strings.Contains(string(out), "kubectl kubectl") {
			t.Errorf("%s: no %q in\n%s", args, want, out)
		}
	}
}
