//go:build linux

package hostile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// console is a pseudo-terminal that runs the program.
type console struct {
	testing.TB
	terminal *os.File // the user's end
	tty      *os.File // the program's end, kept open so that its last output can be read
	before   *term.State
	program  *exec.Cmd
	ended    chan error

	mu      sync.Mutex
	changed sync.Cond // signalled at each output, and at the end
	written bytes.Buffer
	from    int // where waitFor starts
	over    bool
}

// timeout limits every wait. It passes only if something is wrong.
const timeout = 30 * time.Second

// start runs a program at its own terminal. It is killed at the end of the test.
func start(t testing.TB, path string, args ...string) *console {
	t.Helper()
	return startAt(t, environment{cleanVariables(t), 40, 140}, path, args...)
}

// environment holds the environment variables and the size of the terminal.
type environment struct {
	variables  []string
	rows, cols uint16
}

// startAt is start in that environment.
func startAt(t testing.TB, env environment, path string, args ...string) *console {
	t.Helper()
	return startIn(t, env, t.TempDir(), path, args...)
}

// startIn is startAt in that folder.
func startIn(t testing.TB, env environment, dir, path string, args ...string) *console {
	t.Helper()
	program := exec.Command(path, args...)
	program.Dir = dir
	return startCmd(t, env, program)
}

// startCmd runs a prepared command in that environment.
func startCmd(t testing.TB, env environment, program *exec.Cmd) *console {
	t.Helper()
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: env.rows, Cols: env.cols}); err != nil {
		t.Fatal(err)
	}
	s := &console{TB: t, terminal: terminal, tty: tty, program: program, ended: make(chan error, 1)}
	s.changed.L = &s.mu
	if s.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	s.program.Env = env.variables
	s.program.Stdin, s.program.Stdout, s.program.Stderr = tty, tty, tty
	if s.program.SysProcAttr == nil {
		s.program.SysProcAttr = &syscall.SysProcAttr{}
	}
	s.program.SysProcAttr.Setsid, s.program.SysProcAttr.Setctty = true, true
	if err := s.program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.program.Process.Kill()
		<-s.ended
		tty.Close()
		terminal.Close()
	})
	go s.read()
	go func() {
		err := s.program.Wait()
		s.ended <- err
		s.ended <- err // for the cleanup
	}()
	return s
}

// read collects the program's output until the terminal is closed.
func (s *console) read() {
	block := make([]byte, 64<<10)
	for {
		n, err := s.terminal.Read(block)
		s.mu.Lock()
		s.written.Write(block[:n])
		s.over = err != nil
		s.changed.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// waitFor waits until the program writes text.
func (s *console) waitFor(text string) {
	s.Helper()
	late := time.AfterFunc(timeout, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.over = true
		s.changed.Broadcast()
	})
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !bytes.Contains(s.written.Bytes()[s.from:], []byte(text)) {
		if s.over {
			s.Fatalf("no %q in %q", text, s.written.String())
		}
		s.changed.Wait()
	}
}

// skipSeen makes waitFor ignore the output so far.
func (s *console) skipSeen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = s.written.Len()
}

func (s *console) typeKeys(keys string) {
	s.Helper()
	if _, err := s.terminal.WriteString(keys); err != nil {
		s.Fatal(err)
	}
}

// feed writes text to a pipe that the program reads, and keeps it open until the test ends.
func (s *console) feed(pipe, text string) *os.File {
	s.Helper()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // blocks until the program opens it
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { w.Close() })
	if _, err := w.WriteString(text); err != nil {
		s.Fatal(err)
	}
	return w
}

func (s *console) signal(sig syscall.Signal) {
	s.Helper()
	if err := s.program.Process.Signal(sig); err != nil {
		s.Fatal(err)
	}
}

// wait waits for the program to end and returns its exit code, or -1 if a signal killed it.
func (s *console) wait() int {
	s.Helper()
	select {
	case <-s.ended:
		return s.program.ProcessState.ExitCode()
	case <-time.After(timeout):
		s.signal(syscall.SIGQUIT) // prints its goroutines
		time.AfterFunc(timeout, func() { s.program.Process.Kill() })
		<-s.ended
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Fatalf("the program did not end:\n%s", s.written.String()[max(0, s.written.Len()-20_000):])
		return 0
	}
}

// drain waits until all output of the program is read.
func (s *console) drain() {
	s.Helper()
	const mark = "(end of output)"
	if _, err := s.tty.WriteString(mark); err != nil {
		s.Fatal(err)
	}
	s.waitFor(mark)
}

// mode matches a sequence that sets or resets a terminal mode.
var mode = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)

// cursorMode shows the cursor. It is the only mode that is set by default.
const cursorMode = "25"

// changes describes how the terminal differs from its initial state, or returns "".
func (s *console) changes() string {
	s.drain()
	var text string
	if now, err := term.GetState(int(s.tty.Fd())); err != nil {
		text += fmt.Sprintf("no state: %v; ", err)
	} else if *now != *s.before {
		text += "other settings (raw, no echo); "
	}
	on := map[string]bool{cursorMode: true}
	for _, m := range mode.FindAllSubmatch(s.written.Bytes(), -1) {
		on[string(m[1])] = m[2][0] == 'h'
	}
	for name, on := range on {
		if on != (name == cursorMode) {
			text += fmt.Sprintf("mode %s on=%t; ", name, on)
		}
	}
	return text
}
