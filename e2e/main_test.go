// Package e2e tests schedq with a real control plane.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/schedq/schedq/e2e/controlplane"
)

// The programs of the control plane and the path of schedq, built once for all tests.
var (
	binaries *controlplane.Binaries
	schedq   string
)

func TestMain(m *testing.M) {
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, "e2e: "+format+"\n", args...) }
	if err := build(logf); err != nil {
		logf("%v", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// build builds missing programs. The environment variable SCHEDQ replaces this repository's schedq.
func build(logf func(string, ...any)) (err error) {
	if binaries, err = controlplane.Build(context.Background(), ".", logf); err != nil {
		return err
	}
	if schedq = os.Getenv("SCHEDQ"); schedq != "" {
		return nil
	}
	if schedq, err = filepath.Abs("bin/schedq"); err != nil {
		return err
	}
	return buildSchedq(schedq)
}

// buildSchedq builds this repository's schedq with the Makefile's flags, to share its build cache, and
// additional ones.
func buildSchedq(path string, flags ...string) error {
	args := append([]string{"build", "-gcflags=all=-dwarf=false", "-ldflags=-w", "-o", path}, flags...)
	cmd := exec.Command("go", append(args, "./cmd/schedq")...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=400")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build schedq: %w\n%s", err, out)
	}
	return nil
}

var keep = flag.Bool("keep", false, "keep the logs and schedq's output of passing tests, too")

// keptDir returns a temporary directory. If the test fails, it is kept and its path is logged.
func keptDir(t *testing.T, what string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "schedq-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() || *keep {
			t.Logf("%s: %s", what, dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// startControlPlane starts a control plane for the test. It builds the scheduler's release if needed.
func startControlPlane(t *testing.T, opts controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	if opts.Release != "" {
		if err := binaries.AddScheduler(t.Context(), opts.Release); err != nil {
			t.Fatal(err)
		}
	}
	c, err := controlplane.Start(t.Context(), binaries, keptDir(t, "the control plane's logs"), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}
