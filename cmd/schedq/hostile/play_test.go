//go:build linux

package hostile

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalPlay presses, in free play, the keys that leave a what-if elsewhere, w once and w again, and then leaves: what was made is
// in the file, and without a file the program asks before it goes.
func TestTerminalPlay(t *testing.T) {
	path := program(t)
	plays := func(s *seat) {
		s.until("add now")
		for _, pod := range []string{"whale", "web"} {
			s.types("n")
			s.until("a pod that wants 12 CPUs")
			s.types(pod + "\r")
			s.until(pod + "-1")
			s.forget()
		}
		s.types("w")
		s.until("this cluster is all there is")
		s.types("w")
	}
	t.Run("into a file", func(t *testing.T) {
		made := filepath.Join(t.TempDir(), "mine.yaml")
		s := sit(t, path, "play", "-o", made)
		plays(s)
		s.types("q")
		s.until("the scenario is " + made)
		if code := s.ends(); code != 0 {
			t.Errorf("exit %d", code)
		}
		if said := s.damage(); said != "" {
			t.Errorf("the terminal is left with %s", said)
		}
		watch := exec.Command(path, "watch", made)
		watch.Env = surroundings(t)
		moves, err := watch.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, moves)
		}
		for _, pod := range []string{"default/whale-1", "default/web-1"} {
			if !strings.Contains(string(moves), pod) {
				t.Errorf("%s is not in what was saved, whose moves are:\n%s", pod, moves)
			}
		}
	})
	t.Run("into nothing", func(t *testing.T) {
		s := sit(t, path, "play")
		plays(s)
		s.types("q")
		s.until("your cluster will be lost")
		s.types("q")
		if code := s.ends(); code != 0 {
			t.Errorf("exit %d", code)
		}
		if said := s.damage(); said != "" {
			t.Errorf("the terminal is left with %s", said)
		}
	})
}
