//go:build unix

package disk_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/disk"
)

// pipe makes a named pipe.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// within fails the test if do takes long: what waits for a pipe ends when its context does.
func within(t *testing.T, what string, do func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("%s does not end", what)
	}
}

// TestNothingIsWaitedForForEver: neither for a pipe's other end nor for what it says or takes.
func TestNothingIsWaitedForForEver(t *testing.T) {
	for what, do := range map[string]func(ctx context.Context, path string) error{
		"reading": func(ctx context.Context, path string) error { _, err := disk.Read(ctx, path, 100); return err },
		"opening": func(ctx context.Context, path string) error { _, err := disk.Open(ctx, path); return err },
		"writing": func(ctx context.Context, path string) error {
			return disk.Write(ctx, path, disk.Options{}, func(w io.Writer) error { return inPieces(w, after) })
		},
	} {
		path := pipe(t)
		within(t, what+" a pipe without another end", func(ctx context.Context) error { return do(ctx, path) })
		path = pipe(t)
		other, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if what != "opening" {
			within(t, what+" a pipe whose other end does nothing", func(ctx context.Context) error { return do(ctx, path) })
		}
	}
}

// TestBoundedByWhatIsRead: a device has no size, and is no longer than another file.
func TestBoundedByWhatIsRead(t *testing.T) {
	if _, err := disk.Read(t.Context(), "/dev/zero", 1<<20); err == nil || err.Error() != "/dev/zero is larger than 1 MiB, which is the most that is read of it" {
		t.Errorf("%v", err)
	}
}

// TestDevicesAndPipes: what can't be overwritten is written as it comes, and is there afterwards.
func TestDevicesAndPipes(t *testing.T) {
	for name, put := range bothWays {
		for _, replace := range []bool{false, true} {
			opts := disk.Options{Replace: replace}
			if err := errors.Join(disk.Check(t.Context(), "/dev/null", opts), put(t.Context(), "/dev/null", opts, "text")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if info, err := os.Lstat("/dev/null"); err != nil || info.Mode().IsRegular() {
				t.Fatalf("/dev/null is %v, %v", info, err)
			}
			path := pipe(t)
			said := make(chan string)
			go func() {
				text, _ := os.ReadFile(path)
				said <- string(text)
			}()
			if err := put(t.Context(), path, opts, "text"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := <-said; got != "text" {
				t.Errorf("%s: the pipe said %q", name, got)
			}
		}
		if _, err := os.Stat("/dev/full"); err == nil {
			if err := put(t.Context(), "/dev/full", disk.Options{}, "text"); err == nil || !strings.HasPrefix(err.Error(), "/dev/full can't be written: no space left on device") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestStandardOutput: by its name in /dev it is added to where it leads, as by any program of a pipeline.
func TestStandardOutput(t *testing.T) {
	if way := os.Getenv("WRITE_STDOUT"); way != "" {
		if err := bothWays[way](t.Context(), "/dev/stdout", disk.Options{}, "schedq\n"); err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, err := os.Stat("/dev/stdout"); err != nil {
		t.Skip("standard output has no name here")
	}
	for name := range bothWays {
		path := filepath.Join(t.TempDir(), "log")
		write(t, path, "what was there\n")
		log, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestStandardOutput$")
		cmd.Env, cmd.Stdout = append(os.Environ(), "WRITE_STDOUT="+name), log
		if err := errors.Join(cmd.Run(), log.Close()); err != nil {
			t.Error(err)
		}
		if text, _ := os.ReadFile(path); !strings.HasPrefix(string(text), "what was there\nschedq\n") {
			t.Errorf("%s: the log holds %q", name, text)
		}
	}
}
