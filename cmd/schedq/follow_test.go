package main

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/live/livetest"
)

// words are what a command says while it runs. It is safe for concurrent use.
type words struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestListsFail: every command without a screen says within five seconds which lists fail, and why, once; and
// it goes on when they come.
func TestListsFail(t *testing.T) {
	for name, c := range map[string]struct {
		refuse func(*livetest.Server, int)
		code   int
		says   string
	}{
		"all, 500":  {(*livetest.Server).RefuseLists, 500, "schedq: the API server: InternalError\n"},
		"all, 503":  {(*livetest.Server).RefuseLists, 503, "schedq: the API server: ServiceUnavailable\n"},
		"all, 429":  {(*livetest.Server).RefuseLists, 429, "schedq: the API server: TooManyRequests\n"},
		"pods only": {func(s *livetest.Server, code int) { s.Refuse("pods", code) }, 500, "schedq: pods can't be read: the API server: InternalError\n"},
	} {
		for _, command := range []string{"watch", "explain big -n default", "report", "record -o FILE"} {
			t.Run(name+", "+command, func(t *testing.T) {
				t.Parallel()
				server := livetest.New(t)
				server.Put(readyNode("n-1", "4"), pendingPod("big", "6"))
				c.refuse(server, c.code)
				args := strings.Fields(strings.ReplaceAll(command, "FILE", filepath.Join(t.TempDir(), "x.jsonl")))
				ctx, cancel := context.WithCancel(context.Background())
				var said words
				ended := make(chan int, 1)
				go func() {
					ended <- run(ctx, append(args, "--kubeconfig", server.Kubeconfig(t)), strings.NewReader(""), &words{}, &said)
				}()
				defer func() { cancel(); <-ended }()
				says := func(what string, within time.Duration) {
					t.Helper()
					for deadline := time.Now().Add(within); !strings.Contains(said.String(), what); time.Sleep(10 * time.Millisecond) {
						if time.Now().After(deadline) {
							t.Fatalf("%q was not said within %s, but %q", what, within, said.String())
						}
					}
				}
				says(c.says, 5*time.Second)
				c.refuse(server, 0)
				says("schedq: attached at", 20*time.Second)
				if n := strings.Count(said.String(), c.says); n != 1 {
					t.Errorf("it was told %d times: %q", n, said.String())
				}
			})
		}
	}
}

// TestForCountsFromTheStart: --for ends a command also if the cluster never comes, with the reason.
func TestForCountsFromTheStart(t *testing.T) {
	server := livetest.New(t)
	server.RefuseLists(500)
	for _, command := range [][]string{{"report"}, {"record", "-o", filepath.Join(t.TempDir(), "x.jsonl")}} {
		began := time.Now()
		code, _, stderr := schedq(t, "", append(command, "--for", "1s", "--kubeconfig", server.Kubeconfig(t))...)
		if want := "schedq: the time is over, and test was not attached to: the API server: InternalError\n"; code != 1 || !strings.HasSuffix(stderr, want) {
			t.Errorf("%s: exit %d, %q, want %q", command[0], code, stderr, want)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s took %s", command[0], took)
		}
	}
}
