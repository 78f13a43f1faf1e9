//go:build linux

package hostile

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPlacesBare: all that the program needs is itself. In a folder of which it knows nothing outside, without a home,
// devices, /proc, /tmp, certificates or time zones, the first frame is there within two seconds.
func TestPlacesBare(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("nobody but root may change the root folder")
	}
	root := t.TempDir()
	copyProgram(t, program(t), filepath.Join(root, "schedq"))
	bare := &exec.Cmd{Path: "/schedq", Args: []string{"schedq"}, Dir: "/", SysProcAttr: &syscall.SysProcAttr{Chroot: root}}
	begun := time.Now()
	s := sitWith(t, place{[]string{"TERM=xterm-256color", "HOME=/", "TZ=Asia/Kolkata"}, 30, 100}, bare)
	s.until("activeQ")
	took := time.Since(begun)
	s.types("q")
	s.endsWith(0)
	state := s.program.ProcessState
	computed := state.UserTime() + state.SystemTime()
	t.Logf("the first frame after %v; %v of computing until the end", took, computed)
	if most := 2 * time.Second; took > most && computed > most {
		t.Errorf("the first frame after %v, %v of computing", took, computed)
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
