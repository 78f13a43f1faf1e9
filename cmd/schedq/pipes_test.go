//go:build unix

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipes: a command that waits for a pipe without a writer can be stopped, and an endless device
// is an error.
func TestPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, variable string }{
		{"config", "SCHEDQ_CONFIG"},
		{"learn lint FILE", ""},
		{"learn FILE", ""},
		{"watch --recording workshop --scheduler-config FILE", ""},
		{"serve --authorized-keys FILE --listen 127.0.0.1:0", ""},
		{"serve --teacher-keys FILE --listen 127.0.0.1:0", ""},
	} {
		for file, want := range map[string]string{pipe: "", "/dev/zero": "/dev/zero is larger than "} {
			if file == "/dev/zero" && c.args == "learn FILE" {
				continue // not the name of a lesson file
			}
			t.Run(c.args+" "+filepath.Base(file), func(t *testing.T) {
				if c.variable != "" {
					t.Setenv(c.variable, file)
				}
				ctx, cancel := context.WithCancel(t.Context())
				args := strings.Fields(strings.ReplaceAll(c.args, "FILE", file))
				var out bytes.Buffer
				ended := make(chan int, 1)
				go func() { ended <- run(ctx, args, strings.NewReader(""), &out, &out) }()
				if file == pipe {
					time.AfterFunc(20*time.Millisecond, cancel)
				}
				select {
				case code := <-ended:
					if code != 1 || !strings.Contains(out.String(), want) || want == "" && out.Len() > 0 {
						t.Errorf("schedq %s: exit %d, %q", c.args, code, out.String())
					}
				case <-time.After(time.Minute):
					t.Errorf("schedq %s does not end", c.args)
				}
				cancel()
			})
		}
	}
}
