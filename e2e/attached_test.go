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

// attached is a schedq without a screen that is attached to a live cluster.
type attached struct {
	cmd    *exec.Cmd
	exited chan struct{}
	// out is the file that gets its standard output, errs its standard error.
	out, errs string
	// stopped is when it was told to end. Zero until then.
	stopped time.Time
}

// attach starts schedq with args and the kubeconfig, and ends it with the test.
func attach(t *testing.T, kubeconfig string, args ...string) *attached {
	t.Helper()
	return attachProgram(t, schedq, kubeconfig, args...)
}

// attachProgram does so with another schedq.
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
		_ = a.cmd.Wait() // stop looks at how it ended
		close(a.exited)
	}()
	t.Cleanup(func() {
		a.cmd.Process.Kill()
		<-a.exited
	})
	return a
}

// waitWatching waits until it says that it is attached: that it has all there was.
func (a *attached) waitWatching(t *testing.T) {
	t.Helper()
	a.waitSaying(t, "attached")
}

// waitSaying waits until it says a word on standard error.
func (a *attached) waitSaying(t *testing.T, word string) {
	t.Helper()
	poll(t, func(context.Context) error {
		text, err := os.ReadFile(a.errs)
		if err != nil {
			return err
		}
		if !strings.Contains(strings.ToLower(string(text)), word) {
			return fmt.Errorf("schedq has not said %q: %s", word, text)
		}
		return nil
	})
}

// stop ends it as Ctrl-C does.
func (a *attached) stop(t *testing.T) {
	t.Helper()
	select {
	case <-a.exited:
		t.Fatalf("schedq %v has ended by itself: %s", a.cmd.Args[1:], a.cmd.ProcessState)
	default:
	}
	a.stopped = time.Now()
	if err := a.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-a.exited:
	case <-time.After(20 * time.Second):
		t.Fatalf("schedq %v does not end 20 s after an interrupt", a.cmd.Args[1:])
	}
}

// schedqKubeconfig returns the kubeconfig of a user who has what deploy/ grants and nothing else, for the
// API server at address.
func schedqKubeconfig(t *testing.T, c *controlplane.ControlPlane, address string) string {
	t.Helper()
	path, err := c.Kubeconfig(controlplane.SchedqUser, address)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
