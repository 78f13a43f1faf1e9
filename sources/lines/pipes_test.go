//go:build unix

package lines

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWaitsEndWithTheContext: a pipe that nobody writes to, one whose writer pauses, and a terminal at which nobody types
// hold nobody up who does not want to wait any more.
func TestWaitsEndWithTheContext(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	typing, keyboard, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close() // kept until the end: the garbage collector closes what nobody holds, and a closed keyboard is an end
	for name, wait := range map[string]func(ctx context.Context, stop func()) error{
		"no writer": func(ctx context.Context, stop func()) error {
			go stop()
			_, err := Open(ctx, pipe, nil)
			return err
		},
		"nobody types": func(ctx context.Context, stop func()) error {
			go stop()
			_, err := Open(ctx, "-", typing)
			return err
		},
		"the writer pauses": func(ctx context.Context, stop func()) error {
			writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer writer.Close()
			if _, err := writer.WriteString("one\ntw"); err != nil {
				return err
			}
			go stop()
			_, err = Open(ctx, pipe, nil)
			return err
		},
		"what was read is used up": func(ctx context.Context, stop func()) error {
			r, err := New(ctx, "f", time.Time{}, io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("x\n", blockSize)), typing)))
			if err != nil {
				return err
			}
			for n := 0; err == nil; n++ {
				if n == blockSize/2 {
					go stop()
				}
				_, err = r.Next()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			if err := wait(ctx, stop); !errors.Is(err, context.Canceled) {
				t.Errorf("the wait ended with %v", err)
			}
		})
	}
}

// stopping waits until it may read, and ends a context with that.
type stopping struct {
	io.Reader
	may  chan struct{}
	stop func()
}

func (s stopping) Read(b []byte) (int, error) {
	<-s.may
	defer s.stop()
	return s.Reader.Read(b)
}

// TestStopped: once the context has ended, nothing is handed out, though it was read by then.
func TestStopped(t *testing.T) {
	for range 20 {
		ctx, stop := context.WithCancel(t.Context())
		last := stopping{strings.NewReader("tw"), make(chan struct{}), stop}
		p, _, err := startPump(ctx, io.NopCloser(io.MultiReader(strings.NewReader("one\n"), last)), -1)
		if err != nil {
			t.Fatal(err)
		}
		close(last.may)
		for len(p.full) == 0 {
			runtime.Gosched()
		}
		if block, err := p.next(); !errors.Is(err, context.Canceled) || block != nil {
			t.Fatalf("it hands out %q, %v", block, err)
		}
	}
}
