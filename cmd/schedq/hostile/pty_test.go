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

// seat is a terminal with the program at it.
type seat struct {
	testing.TB
	terminal *os.File // the end of the terminal at which a person sits
	tty      *os.File // the program's end, also held by the test: so what is written last can be read after the program's end
	before   *term.State
	program  *exec.Cmd
	ended    chan error // has the program's end

	mu      sync.Mutex
	changed sync.Cond // with each byte, and at the end
	written bytes.Buffer
	from    int // where until begins to look
	over    bool
}

// patience is how long is waited for anything. It only ever passes if something is wrong.
const patience = 30 * time.Second

// sit begins a program at a terminal of its own. It ends with the test.
func sit(t testing.TB, path string, args ...string) *seat {
	t.Helper()
	return sitAt(t, place{surroundings(t), 40, 140}, path, args...)
}

// place is where a program runs: its environment, and its terminal's size.
type place struct {
	environment []string
	rows, cols  uint16
}

// sitAt is sit in that place.
func sitAt(t testing.TB, at place, path string, args ...string) *seat {
	t.Helper()
	return sitIn(t, at, t.TempDir(), path, args...)
}

// sitIn is sitAt in that folder.
func sitIn(t testing.TB, at place, dir, path string, args ...string) *seat {
	t.Helper()
	program := exec.Command(path, args...)
	program.Dir = dir
	return sitWith(t, at, program)
}

// sitWith is sitAt for a program whose path, folder and root folder are said already.
func sitWith(t testing.TB, at place, program *exec.Cmd) *seat {
	t.Helper()
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: at.rows, Cols: at.cols}); err != nil {
		t.Fatal(err)
	}
	s := &seat{TB: t, terminal: terminal, tty: tty, program: program, ended: make(chan error, 1)}
	s.changed.L = &s.mu
	if s.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	s.program.Env = at.environment
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

// read takes what the program writes, as a terminal does, until there is no terminal.
func (s *seat) read() {
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

// until waits for a text that the program writes, and fails the test if it doesn't come.
func (s *seat) until(text string) {
	s.Helper()
	late := time.AfterFunc(patience, func() {
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
			s.Fatalf("%q did not come; there was %q", text, s.written.String())
		}
		s.changed.Wait()
	}
}

// forget has until wait for what comes from now on.
func (s *seat) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = s.written.Len()
}

// types has the person press keys.
func (s *seat) types(keys string) {
	s.Helper()
	if _, err := s.terminal.WriteString(keys); err != nil {
		s.Fatal(err)
	}
}

// feeds writes text into a pipe that the program reads, and leaves it open until the test ends.
func (s *seat) feeds(pipe, text string) *os.File {
	s.Helper()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the program
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { w.Close() })
	if _, err := w.WriteString(text); err != nil {
		s.Fatal(err)
	}
	return w
}

// sends sends the program a signal.
func (s *seat) sends(sig syscall.Signal) {
	s.Helper()
	if err := s.program.Process.Signal(sig); err != nil {
		s.Fatal(err)
	}
}

// ends waits for the program's end and returns the exit code, or -1 if a signal killed it. It fails the test if the
// program does not end.
func (s *seat) ends() int {
	s.Helper()
	select {
	case <-s.ended:
		return s.program.ProcessState.ExitCode()
	case <-time.After(patience):
		s.sends(syscall.SIGQUIT) // for its goroutines
		time.AfterFunc(patience, func() { s.program.Process.Kill() })
		<-s.ended
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Fatalf("the program did not end:\n%s", s.written.String()[max(0, s.written.Len()-20_000):])
		return 0
	}
}

// settle waits until all is read that the program wrote.
func (s *seat) settle() {
	s.Helper()
	const mark = "(all is read)"
	if _, err := s.tty.WriteString(mark); err != nil {
		s.Fatal(err)
	}
	s.until(mark)
}

// mode is a sequence that switches a mode of the terminal on or off.
var mode = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)

// cursorMode shows the cursor. It is the one mode that is on in a terminal that nobody changed.
const cursorMode = "25"

// damage says how the terminal is other than it was, or "".
func (s *seat) damage() string {
	s.settle()
	var said string
	if now, err := term.GetState(int(s.tty.Fd())); err != nil {
		said += fmt.Sprintf("no state: %v; ", err)
	} else if *now != *s.before {
		said += "other settings (raw, no echo); "
	}
	on := map[string]bool{cursorMode: true}
	for _, m := range mode.FindAllSubmatch(s.written.Bytes(), -1) {
		on[string(m[1])] = m[2][0] == 'h'
	}
	for name, on := range on {
		if on != (name == cursorMode) {
			said += fmt.Sprintf("mode %s on=%t; ", name, on)
		}
	}
	return said
}
