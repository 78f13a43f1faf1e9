package e2e

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/schedq/schedq/e2e/workload"
)

// terminal is a terminal with schedq attached to a live cluster.
type terminal struct {
	cmd     *exec.Cmd
	started time.Time
	exited  chan struct{}
	// state is the directory of schedq's recordings.
	state string

	mu      sync.Mutex // guards the fields below
	screen  *vt.Emulator
	written bytes.Buffer
}

const terminalWidth, terminalHeight = 120, 40

// attachTerminal starts schedq attach in a terminal. It is killed when the test ends.
func attachTerminal(t *testing.T, kubeconfig string, flags ...string) *terminal {
	t.Helper()
	w := &terminal{
		exited: make(chan struct{}), state: t.TempDir(), screen: vt.NewEmulator(terminalWidth, terminalHeight),
		cmd: exec.Command(schedq, append([]string{"attach", "--kubeconfig", kubeconfig}, flags...)...),
	}
	w.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+w.state, "HOME="+w.state, "TERM=xterm-256color")
	w.started = time.Now()
	tty, err := pty.StartWithSize(w.cmd, &pty.Winsize{Rows: terminalHeight, Cols: terminalWidth})
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(tty, w.screen) // the terminal's replies
	go func() {
		defer close(w.exited)
		io.Copy(w, tty) // fails when the program has exited
		_ = w.cmd.Wait()
	}()
	t.Cleanup(func() {
		w.cmd.Process.Kill()
		<-w.exited
		_ = w.screen.InputPipe().(io.Closer).Close()
		tty.Close()
	})
	return w
}

// Write writes the program's output to the screen.
func (w *terminal) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written.Write(b)
	return w.screen.Write(b)
}

// text returns the text on the screen.
func (w *terminal) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.screen.String()
}

// waitFor waits until the screen shows want, or no longer shows it, and returns the time since the start
// of the program.
func (w *terminal) waitFor(t *testing.T, want string, shown bool) time.Duration {
	t.Helper()
	end := time.Now().Add(within)
	for strings.Contains(w.text(), want) != shown {
		if time.Now().After(end) {
			t.Fatalf("after %v the screen shows %q: %t, want %t:\n%s", within, want, !shown, shown, w.text())
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(w.started)
}

// recording returns the file of schedq's own recording.
func (w *terminal) recording() (string, error) {
	found := ""
	err := filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(path, ".jsonl") {
			found = path
		}
		return err
	})
	if err == nil && found == "" {
		err = fmt.Errorf("no recording in %s", w.state)
	}
	return found, err
}

// holdsNoSecret fails the test if the pods' environment was written to the terminal or the recording.
func (w *terminal) holdsNoSecret(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	if bytes.Contains(w.written.Bytes(), []byte(workload.Secret)) {
		t.Error("a pod's environment was written to the terminal")
	}
	w.mu.Unlock()
	path, err := w.recording()
	if err != nil {
		t.Fatal(err)
	}
	holdsNoSecret(t, path)
}
