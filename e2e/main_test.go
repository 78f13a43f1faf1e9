// Package e2e tries schedq on a real control plane.
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

// Built once for all tests: the control plane's programs, and schedq's path.
var (
	binaries *controlplane.Binaries
	schedq   string
)

func TestMain(m *testing.M) {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, "e2e: "+format+"\n", args...) }
	if err := build(say); err != nil {
		say("%v", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// build builds what is not yet there. SCHEDQ may name a schedq to try instead of this repository's.
func build(say func(string, ...any)) (err error) {
	if binaries, err = controlplane.Build(context.Background(), ".", say); err != nil {
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

// buildSchedq builds this repository's schedq as the Makefile does, so that what is compiled already is not
// compiled again, with more flags.
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

var keep = flag.Bool("keep", false, "keep the processes' logs and what schedq wrote, also of tests that pass")

// keptDir returns a new directory that goes with the test, unless that fails: then it is kept, and the test
// says where.
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

// startControlPlane starts one that ends with the test. It builds the scheduler's release if that is not there.
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
