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

// TestPlacesBare runs the program in an empty chroot, without a home, devices, /proc, /tmp,
// certificates or time zones. The first frame appears within two seconds.
func TestPlacesBare(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	root := t.TempDir()
	copyProgram(t, program(t), filepath.Join(root, "schedq"))
	bare := &exec.Cmd{Path: "/schedq", Args: []string{"schedq"}, Dir: "/", SysProcAttr: &syscall.SysProcAttr{Chroot: root}}
	began := time.Now()
	s := startCmd(t, environment{[]string{"TERM=xterm-256color", "HOME=/", "TZ=Asia/Kolkata"}, 30, 100}, bare)
	s.waitFor("activeQ")
	took := time.Since(began)
	s.typeKeys("q")
	s.waitExit(0)
	state := s.program.ProcessState
	cpu := state.UserTime() + state.SystemTime()
	t.Logf("first frame after %v; %v of CPU time until the end", took, cpu)
	if most := 2 * time.Second; took > most && cpu > most {
		t.Errorf("first frame after %v, %v of CPU time", took, cpu)
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
