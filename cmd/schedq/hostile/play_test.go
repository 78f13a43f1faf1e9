//go:build linux

package hostile

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalPlay: w does not leave free play, unlike a what-if. With -o the cluster is saved at
// the end; without it, the program asks for confirmation.
func TestTerminalPlay(t *testing.T) {
	path := program(t)
	play := func(s *console) {
		s.waitFor("change …")
		for _, pod := range []string{"whale", "web"} {
			s.typeKeys("en")
			s.waitFor("a pod that wants 12 CPUs")
			s.typeKeys("/" + pod + "\r")
			s.waitFor(pod + "-1")
			s.skipSeen()
		}
		s.typeKeys("w")
		s.waitFor("this cluster is your what-if")
		s.typeKeys("w")
	}
	t.Run("with a file", func(t *testing.T) {
		made := filepath.Join(t.TempDir(), "mine.yaml")
		s := start(t, path, "play", "-o", made)
		play(s)
		s.typeKeys("q")
		s.waitFor("saved the scenario to " + made)
		if code := s.wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		if said := s.changes(); said != "" {
			t.Errorf("the terminal changed: %s", said)
		}
		watch := exec.Command(path, "watch", made)
		watch.Env = cleanVariables(t)
		moves, err := watch.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, moves)
		}
		for _, pod := range []string{"default/whale-1", "default/web-1"} {
			if !strings.Contains(string(moves), pod) {
				t.Errorf("%s is not in the saved scenario's moves:\n%s", pod, moves)
			}
		}
	})
	t.Run("without a file", func(t *testing.T) {
		s := start(t, path, "play")
		play(s)
		s.typeKeys("q")
		s.waitFor("your cluster will be lost")
		s.typeKeys("q")
		if code := s.wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		if said := s.changes(); said != "" {
			t.Errorf("the terminal changed: %s", said)
		}
	})
}
