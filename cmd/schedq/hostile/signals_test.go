//go:build linux

package hostile

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources/live/livetest"
)

// altScreen is the sequence that takes the screen.
const altScreen = "\x1b[?1049h"

// signalsPerMoment is how many signals of each kind are sent at each moment.
var signalsPerMoment = flag.Int("signals", 2, "how many signals of each kind to send at each moment")

// TestMain resets SIGHUP for the programs under test, even if the tests run under nohup: ignored
// signals are inherited, caught ones are not.
func TestMain(m *testing.M) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(m.Run())
}

// moment is a state in which the program receives a signal.
type moment struct {
	name string
	args []string
	// reach brings the program to the state. If nil, the signal is sent at once.
	reach func(*console)
	// within limits the random delay of the signal after that.
	within time.Duration
}

// moments returns the states to send signals in.
func moments(t *testing.T) []moment {
	server := livetest.New(t)
	server.Put(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "big", Namespace: "default"},
		Spec: corev1.PodSpec{SchedulerName: "default-scheduler", Containers: []corev1.Container{{
			Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("64")}},
		}}},
	})
	kubeconfig := server.Kubeconfig(t)
	dir := t.TempDir()
	large := filepath.Join(dir, "large.jsonl")
	if err := os.WriteFile(large, manyPods(40_000), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	screen := func(s *console) { s.waitFor(altScreen) }
	return []moment{
		{"at start", []string{"replay", large}, nil, 300 * time.Millisecond},
		{"while loading", []string{"replay", large}, nil, 2 * time.Second},
		{"at a pipe whose writer pauses", []string{"replay", pipe}, func(s *console) { s.feed(pipe, header+"{") }, 100 * time.Millisecond},
		{"at a pipe without a writer", []string{"watch", pipe}, nil, time.Second},
		{"at a terminal where nobody types", []string{"watch", "-"}, nil, time.Second},
		{"as the screen opens", nil, screen, 20 * time.Millisecond},
		{"while playing", []string{"--speed", "100"}, screen, time.Second},
		{"in a lesson", []string{"learn", "1"}, screen, time.Second},
		{"in a prompt", []string{"--paused"}, func(s *console) {
			s.waitFor("paused")
			s.typeKeys("/")
			s.waitFor("filter")
			s.typeKeys("web")
		}, 500 * time.Millisecond},
		{"in free play", []string{"play"}, screen, time.Second},
		{"attached", []string{"attach", "--kubeconfig", kubeconfig}, func(s *console) { s.waitFor("big") }, time.Second},
		{"while attaching", []string{"attach", "--kubeconfig", kubeconfig}, nil, time.Second},
		{"recording", []string{"record", "-o", "recording.jsonl", "--kubeconfig", kubeconfig}, func(s *console) { s.waitFor("attached") }, time.Second},
	}
}

// TestSignals: SIGTERM, SIGINT and SIGHUP end the program at any moment and leave the terminal
// unchanged.
func TestSignals(t *testing.T) {
	path := program(t)
	for _, m := range moments(t) {
		t.Run(m.name, func(t *testing.T) {
			for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
				for n := range *signalsPerMoment {
					t.Run(fmt.Sprintf("%v/%d", sig, n), func(t *testing.T) {
						s := start(t, path, m.args...)
						if m.reach != nil {
							m.reach(s)
						}
						time.Sleep(rand.N(m.within))
						s.signal(sig)
						// Before main runs, the default action of the signal is fine.
						if code := s.wait(); code > 1 || code < 0 && m.reach != nil {
							t.Errorf("exit %d", code)
						}
						if said := s.changes(); said != "" {
							t.Errorf("the terminal changed: %s", said)
						}
					})
				}
			}
		})
	}
}

// manyPods returns a trace in which n pods are added, one per millisecond.
func manyPods(n int) []byte {
	var b bytes.Buffer
	b.WriteString(header)
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for i := range n {
		fmt.Fprintf(&b, `{"time":%q,"verb":"added","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p-%d","namespace":"default","uid":"u-%d"},"spec":{"schedulerName":"default-scheduler","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}}}`+"\n",
			at.Add(time.Duration(i)*time.Millisecond).Format(time.RFC3339Nano), i, i)
	}
	return b.Bytes()
}

// TestSecondSignal: a program that is stuck at the first signal ends at the second and restores the
// terminal.
func TestSecondSignal(t *testing.T) {
	path := program(t)
	t.Run("the terminal accepts no output", func(t *testing.T) {
		s := start(t, path, "--speed", "100")
		s.waitFor(altScreen)
		flow := func(how int) {
			if err := unix.IoctlSetInt(int(s.tty.Fd()), unix.TCXONC, how); err != nil {
				t.Fatal(err)
			}
		}
		flow(unix.TCOOFF)
		s.signal(syscall.SIGTERM)
		s.signal(syscall.SIGINT) // a different one, since two of a kind may be merged
		if code := s.wait(); code != 1 {
			t.Errorf("exit %d", code)
		}
		flow(unix.TCOON)
		if now, err := term.GetState(int(s.tty.Fd())); err != nil || *now != *s.before {
			t.Errorf("the terminal's settings changed (%v)", err)
		}
	})
	t.Run("nobody reads the output", func(t *testing.T) {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		cmd := exec.Command(path, "watch", "--recording", "lively-nopop", "-o", "json")
		cmd.Env, cmd.Stdout = cleanVariables(t), in
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in.Close()
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGTERM} {
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
		late := time.AfterFunc(timeout, func() { cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%v", err)
		}
	})
}

// TestClosedTerminal: closing the terminal ends the program.
func TestClosedTerminal(t *testing.T) {
	path := program(t)
	for _, args := range [][]string{nil, {"learn", "1"}, {"play"}} {
		s := start(t, path, args...)
		s.waitFor(altScreen)
		s.tty.Close()
		s.terminal.Close()
		if code := s.wait(); code > 1 {
			t.Errorf("schedq %v: exit %d", args, code)
		}
	}
}

// TestIgnoredSignal: a program under nohup survives SIGHUP.
func TestIgnoredSignal(t *testing.T) {
	path := program(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "/bin/sh", "-c", `trap "" HUP; exec "$0" watch "$1"`, path, pipe)
	writer := s.feed(pipe, header)
	s.signal(syscall.SIGHUP)
	if _, err := writer.WriteString(string(manyPods(1)[len(header):])); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestSuspend: ctrl+z returns the terminal to the shell, and fg takes it back.
func TestSuspend(t *testing.T) {
	path := program(t)
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is missing")
	}
	s := start(t, shell, "--norc", "--noprofile", "-i")
	s.typeKeys(path + " --paused\n")
	s.waitFor(altScreen)
	s.waitFor("paused")
	s.typeKeys("\x1a")
	s.waitFor("Stopped")
	s.typeKeys("echo shell=$((6*7))\n")
	s.waitFor("shell=42")
	s.skipSeen()
	s.typeKeys("fg\n")
	s.waitFor(altScreen)
	s.waitFor("paused")
	s.typeKeys("\x1a")
	s.waitFor("Stopped")
	// The shell wakes the job to kill it. The job may touch the terminal first and be stopped again.
	s.typeKeys("while kill %1 2>/dev/null; do sleep .1; done; echo gone=$((6*7))\n")
	s.waitFor("gone=42")
	s.typeKeys("exit\n")
	if s.wait(); s.changes() != "" {
		t.Errorf("the terminal changed: %s", s.changes())
	}
}
