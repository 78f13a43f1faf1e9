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

// altScreen is what a program writes that takes the screen.
const altScreen = "\x1b[?1049h"

// ofEach is how many signals of each kind come at each moment.
var ofEach = flag.Int("signals", 2, "how many signals of each kind to send at each moment")

// TestMain has every program begin with SIGHUP as the system sets it, also where these tests were begun with nohup:
// what is ignored here would be ignored there, but what is caught here is not.
func TestMain(m *testing.M) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(m.Run())
}

// moment is a state of the program in which a signal meets it.
type moment struct {
	name string
	args []string
	// until has it get there. Nil: the signal comes at once.
	until func(*seat)
	// within is how long after that the signal comes at the latest. When exactly is left to chance.
	within time.Duration
}

// moments are those in which a signal may meet the program.
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
	screen := func(s *seat) { s.until(altScreen) }
	return []moment{
		{"at start", []string{"replay", large}, nil, 300 * time.Millisecond},
		{"while loading", []string{"replay", large}, nil, 2 * time.Second},
		{"at a pipe whose writer pauses", []string{"replay", pipe}, func(s *seat) { s.feeds(pipe, header+"{") }, 100 * time.Millisecond},
		{"at a pipe without a writer", []string{"watch", pipe}, nil, time.Second},
		{"at a terminal where nobody types", []string{"watch", "-"}, nil, time.Second},
		{"as the screen is taken", nil, screen, 20 * time.Millisecond},
		{"while playing", []string{"--speed", "100"}, screen, time.Second},
		{"in a lesson", []string{"learn", "1"}, screen, time.Second},
		{"in a prompt", []string{"--paused"}, func(s *seat) {
			s.until("paused")
			s.types("/")
			s.until("filter")
			s.types("web")
		}, 500 * time.Millisecond},
		{"playing freely", []string{"play"}, screen, time.Second},
		{"attached", []string{"attach", "--kubeconfig", kubeconfig}, func(s *seat) { s.until("big") }, time.Second},
		{"while attaching", []string{"attach", "--kubeconfig", kubeconfig}, nil, time.Second},
		{"recording", []string{"record", "-o", "recording.jsonl", "--kubeconfig", kubeconfig}, func(s *seat) { s.until("attached") }, time.Second},
	}
}

// TestSignals: a signal that asks the program to end ends it, whenever it comes, and the terminal is as it was.
func TestSignals(t *testing.T) {
	path := program(t)
	for _, m := range moments(t) {
		t.Run(m.name, func(t *testing.T) {
			for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
				for n := range *ofEach {
					t.Run(fmt.Sprintf("%v/%d", sig, n), func(t *testing.T) {
						s := sit(t, path, m.args...)
						if m.until != nil {
							m.until(s)
						}
						time.Sleep(rand.N(m.within))
						s.sends(sig)
						// Before its first line runs, Go's own way to end a program is right.
						if code := s.ends(); code > 1 || code < 0 && m.until != nil {
							t.Errorf("exit %d", code)
						}
						if said := s.damage(); said != "" {
							t.Errorf("the terminal is left with %s", said)
						}
					})
				}
			}
		})
	}
}

// manyPods is a trace of n pods that come, one a millisecond.
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

// TestSecondSignal: a program that can't hear of the first signal ends with the second, and leaves a terminal that can be
// used.
func TestSecondSignal(t *testing.T) {
	path := program(t)
	t.Run("the terminal takes no text", func(t *testing.T) {
		s := sit(t, path, "--speed", "100")
		s.until(altScreen)
		flow := func(how int) {
			if err := unix.IoctlSetInt(int(s.tty.Fd()), unix.TCXONC, how); err != nil {
				t.Fatal(err)
			}
		}
		flow(unix.TCOOFF)
		s.sends(syscall.SIGTERM)
		s.sends(syscall.SIGINT) // another, as two of a kind can become one
		if code := s.ends(); code != 1 {
			t.Errorf("exit %d", code)
		}
		flow(unix.TCOON)
		if now, err := term.GetState(int(s.tty.Fd())); err != nil || *now != *s.before {
			t.Errorf("the terminal's settings are not what they were (%v)", err)
		}
	})
	t.Run("nobody reads what is written", func(t *testing.T) {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		cmd := exec.Command(path, "watch", "--recording", "lively-nopop", "-o", "json")
		cmd.Env, cmd.Stdout = surroundings(t), in
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
		late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestClosedTerminal: whoever closes the terminal ends the program.
func TestClosedTerminal(t *testing.T) {
	path := program(t)
	for _, args := range [][]string{nil, {"learn", "1"}, {"play"}} {
		s := sit(t, path, args...)
		s.until(altScreen)
		s.tty.Close()
		s.terminal.Close()
		if code := s.ends(); code > 1 {
			t.Errorf("schedq %v: exit %d", args, code)
		}
	}
}

// TestIgnoredSignal: a program that was begun with nohup outlives its terminal.
func TestIgnoredSignal(t *testing.T) {
	path := program(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	s := sit(t, "/bin/sh", "-c", `trap "" HUP; exec "$0" watch "$1"`, path, pipe)
	writer := s.feeds(pipe, header)
	s.sends(syscall.SIGHUP)
	if _, err := writer.WriteString(string(manyPods(1)[len(header):])); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestSuspend: ctrl+z gives the terminal back to the shell, and fg takes it again.
func TestSuspend(t *testing.T) {
	path := program(t)
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no shell with jobs")
	}
	s := sit(t, shell, "--norc", "--noprofile", "-i")
	s.types(path + " --paused\n")
	s.until(altScreen)
	s.until("paused")
	s.types("\x1a")
	s.until("Stopped")
	s.types("echo shell=$((6*7))\n")
	s.until("shell=42")
	s.forget()
	s.types("fg\n")
	s.until(altScreen)
	s.until("paused")
	s.types("\x1a")
	s.until("Stopped")
	// The shell wakes what it kills. It may take a second time: it is stopped again if it is first at the terminal.
	s.types("while kill %1 2>/dev/null; do sleep .1; done; echo gone=$((6*7))\n")
	s.until("gone=42")
	s.types("exit\n")
	if s.ends(); s.damage() != "" {
		t.Errorf("the terminal is left with %s", s.damage())
	}
}
