package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/schedq/schedq/e2e/controlplane"
)

// attached is a headless schedq process attached to a live cluster.
type attached struct {
	cmd    *exec.Cmd
	exited chan struct{}
	// out and errs are the files of its standard output and standard error.
	out, errs string
	// stopped is when stop was called.
	stopped time.Time
}

// attach starts schedq with args and the kubeconfig. It is killed when the test ends.
func attach(t *testing.T, kubeconfig string, args ...string) *attached {
	t.Helper()
	return attachProgram(t, schedq, kubeconfig, args...)
}

// attachProgram is attach with another schedq.
func attachProgram(t *testing.T, program, kubeconfig string, args ...string) *attached {
	t.Helper()
	dir := keptDir(t, fmt.Sprintf("the output of schedq %s", args[0]))
	a := &attached{exited: make(chan struct{}), out: filepath.Join(dir, "stdout"), errs: filepath.Join(dir, "stderr")}
	stdout, err := os.Create(a.out)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	stderr, err := os.Create(a.errs)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	a.cmd = exec.Command(program, append(args, "--kubeconfig", kubeconfig)...)
	a.cmd.Stdout, a.cmd.Stderr = stdout, stderr
	a.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "HOME="+dir)
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = a.cmd.Wait() // stop checks the exit status
		close(a.exited)
	}()
	t.Cleanup(func() {
		a.cmd.Process.Kill()
		<-a.exited
	})
	return a
}

// waitWatching waits until schedq reports that it is attached, which is after the initial lists.
func (a *attached) waitWatching(t *testing.T) {
	t.Helper()
	a.waitStderr(t, "attached")
}

// waitStderr waits until standard error contains a word.
func (a *attached) waitStderr(t *testing.T, word string) {
	t.Helper()
	poll(t, func(context.Context) error {
		text, err := os.ReadFile(a.errs)
		if err != nil {
			return err
		}
		if !strings.Contains(strings.ToLower(string(text)), word) {
			return fmt.Errorf("standard error does not contain %q: %s", word, text)
		}
		return nil
	})
}

// stop interrupts schedq, as Ctrl-C does.
func (a *attached) stop(t *testing.T) {
	t.Helper()
	select {
	case <-a.exited:
		t.Fatalf("schedq %v exited unexpectedly: %s", a.cmd.Args[1:], a.cmd.ProcessState)
	default:
	}
	a.stopped = time.Now()
	if err := a.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-a.exited:
	case <-time.After(20 * time.Second):
		t.Fatalf("schedq %v is still running 20 s after an interrupt", a.cmd.Args[1:])
	}
}

// schedqKubeconfig returns the kubeconfig of a user with the rights of deploy/ and no others, for the API
// server at address.
func schedqKubeconfig(t *testing.T, c *controlplane.ControlPlane, address string) string {
	t.Helper()
	path, err := c.Kubeconfig(controlplane.SchedqUser, address)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
