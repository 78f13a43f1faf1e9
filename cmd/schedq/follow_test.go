package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
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

// TestTroubleIsTold: trouble is told once, when it has stood for a second or has come and gone for three; what
// follows from the same cause within that time is one sentence.
func TestTroubleIsTold(t *testing.T) {
	began := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	attached := sources.Status{Attached: began}
	lost := sources.Status{Attached: began, StaleSince: at(10), Trouble: "cut"}
	type step struct {
		at     float64
		status sources.Status
	}
	failing := func(why sources.SafeText) sources.Status { return sources.Status{Trouble: why} }
	for name, c := range map[string]struct {
		steps []step
		want  []string
	}{
		"at once, then told":  {[]step{{0, failing("a")}, {0.9, failing("a")}, {1, failing("a")}, {60, failing("a")}}, []string{"a"}},
		"over before":         {[]step{{0, failing("a")}, {0.9, failing("")}, {60, failing("")}}, nil},
		"more and more":       {[]step{{0, failing("1 list")}, {0.4, failing("2 lists")}, {0.8, failing("3 lists")}, {1.8, failing("3 lists")}}, []string{"3 lists"}},
		"changing all along":  {[]step{{0, failing("a")}, {0.9, failing("b")}, {1.8, failing("c")}, {2.7, failing("d")}, {3, failing("d")}}, []string{"d"}},
		"changes":             {[]step{{0, failing("a")}, {1, failing("a")}, {5, failing("b")}, {6, failing("b")}}, []string{"a", "b"}},
		"to and fro":          {[]step{{0, failing("a")}, {1, failing("a")}, {5, failing("b")}, {6, failing("b")}, {7, failing("a")}, {8, failing("a")}, {9, failing("b")}, {10, failing("b")}}, []string{"a", "b"}},
		"recovers, and again": {[]step{{0, failing("a")}, {1, failing("a")}, {2, failing("")}, {3, failing("")}, {4, failing("a")}, {5, failing("a")}}, []string{"a", "connected again", "a"}},
		"stale":               {[]step{{0, attached}, {10, lost}, {11, lost}, {12, attached}, {13, attached}}, []string{"attached at 10:00:00.000 UTC, 0 objects", "stale since 10:00:10.000 UTC: cut", "connected again"}},
	} {
		var out strings.Builder
		teller := newTeller(&out)
		for _, s := range c.steps {
			teller.now = func() time.Time { return at(s.at) }
			teller.tell(s.status)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(line, "schedq: "), "\n"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: told was %q, want %q", name, got, c.want)
		}
	}
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
