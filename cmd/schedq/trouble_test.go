package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/live/livetest"
)

// TestFailingLists: every command without a screen reports failing lists within five seconds, once,
// and continues when they succeed.
func TestFailingLists(t *testing.T) {
	for name, c := range map[string]struct {
		refuse func(*livetest.Server, int)
		code   int
		want   string
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
				var stderr output
				ended := make(chan int, 1)
				go func() {
					ended <- run(ctx, append(args, "--kubeconfig", server.Kubeconfig(t)), strings.NewReader(""), &output{}, &stderr)
				}()
				defer func() { cancel(); <-ended }()
				stderr.waitFor(t, c.want, 5*time.Second)
				c.refuse(server, 0)
				stderr.waitFor(t, "schedq: attached at", 20*time.Second)
				if n := strings.Count(stderr.String(), c.want); n != 1 {
					t.Errorf("the failure is reported %d times: %q", n, stderr.String())
				}
			})
		}
	}
}

// TestForCountsFromTheStart: --for ends a command even if the cluster never answers, with the
// reason.
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
