package live_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/live"
	"github.com/schedq/schedq/sources/live/livetest"
)

// client-go delays errors by a global clock, which is not a bubble's, and logs.
func init() {
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(klog.Logger{})
}

// inMemory returns a server, and a source of it, that live in a bubble.
func inMemory(t *testing.T) (*livetest.Server, *livetest.Network, *live.Source) {
	server, network := livetest.NewInMemory(t)
	source, err := live.New(&rest.Config{Host: server.URL, Transport: network.Transport()}, live.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return server, network, source
}

// run runs a stream until stop is called, which returns how long it took to end.
func run(t *testing.T, stream sources.Stream) (stop func() time.Duration) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- stream.Run(ctx) }()
	return func() time.Duration {
		began := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		return time.Since(began)
	}
}

// tooMany is the status of a server that refuses.
const tooMany = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","message":"busy","code":429%s}`

// TestRetryAfter: in whichever form a server says when it wants to be asked again, it is not asked before, nor much
// later than after 25 s; and a source ends at once while it waits for that.
func TestRetryAfter(t *testing.T) {
	for name, c := range map[string]struct {
		code               int
		header, kind, text string
		wants              time.Duration
	}{
		"in the status":              {429, "", "application/json", fmt.Sprintf(tooMany, `,"details":{"retryAfterSeconds":20}`), 20 * time.Second},
		"a header beside a status":   {429, "20", "application/json", fmt.Sprintf(tooMany, ""), 20 * time.Second},
		"a header beside text":       {429, "20", "text/plain", "busy", 20 * time.Second},
		"a date":                     {429, "date", "text/plain", "busy", 20 * time.Second},
		"an hour":                    {429, "3600", "application/json", fmt.Sprintf(tooMany, ""), 25 * time.Second},
		"of a proxy":                 {503, "20", "text/html", "<html>", 20 * time.Second},
		"of a proxy, as a date":      {502, "date", "text/html", "<html>", 20 * time.Second},
		"nothing that is understood": {429, "soon", "text/plain", "busy", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, _, source := inMemory(t)
				server.Break(func(w http.ResponseWriter, _ *http.Request) {
					header := c.header
					if header == "date" {
						header = time.Now().UTC().Add(20 * time.Second).Format(http.TimeFormat)
					}
					if header != "" {
						w.Header().Set("Retry-After", header)
					}
					w.Header().Set("Content-Type", c.kind)
					w.WriteHeader(c.code)
					fmt.Fprint(w, c.text)
				})
				stop := run(t, source)
				time.Sleep(5 * time.Minute)
				_, status := source.Take()
				if took := stop(); took > time.Second {
					t.Errorf("it ended after %s", took)
				}
				if status.Trouble == "" {
					t.Error("no trouble")
				}
				asked := server.Asked("/api/v1/nodes")
				for i := range asked[1:] {
					// A date has no fraction of a second.
					if waited := asked[i+1].Sub(asked[i]); waited < c.wants-time.Second || waited > 31*time.Second {
						t.Errorf("asked again after %s, want %s", waited, c.wants)
					}
				}
			})
		})
	}
}

// TestPatience: whatever fails, a server is asked no more often than by client-go's reflectors, no two requests for a kind are more
// than 30 s apart, the reason is reported, and the source ends at once.
func TestPatience(t *testing.T) {
	status := func(code int, reason string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"no","code":%d}`, reason, code)
		}
	}
	text := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		}
	}
	for name, c := range map[string]struct {
		fault http.HandlerFunc
		says  string
	}{
		"500":                {status(500, "InternalError"), "the API server: no"},
		"503":                {status(503, "ServiceUnavailable"), "the API server: no"},
		"429":                {status(429, "TooManyRequests"), "the API server: no"},
		"401":                {status(401, "Unauthorized"), "does not take your credentials"},
		"410":                {status(410, "Expired"), "the API server: no"},
		"HTML":               {text("text/html", "<html>"), "text/html"},
		"CBOR":               {text("application/cbor", "\x00"), "application/cbor"},
		"damaged JSON":       {text("application/json", `{"kind":"PodList","items":[{`), "the API server: "},
		"a list without end": {text("application/json", `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"again"},"items":[{"metadata":{"name":"n"}}]}`), "does not end"},
		"too large a version": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(504)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","message":"no","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}`)
		}, "the API server: no"},
		"a watch that ends after an event": {text("application/json", `{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"2"}}}`), "nodes can't be read: the API server ended the list"},
		"no answer":                        {func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }, "no data received for 25s"},
		"half an answer": {func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"kind":"PodList",`)
			w.(http.Flusher).Flush()
			<-req.Context().Done()
		}, "no data received for 25s"},
		"connections dropped": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, network, source := inMemory(t)
				server.Break(c.fault)
				stop := run(t, source)
				var first sources.SafeText
				for range 10 {
					time.Sleep(time.Second)
					if _, status := source.Take(); first == "" {
						first = status.Trouble
					}
				}
				time.Sleep(10 * time.Minute)
				_, status := source.Take()
				if took := stop(); took > time.Second {
					t.Errorf("it ended after %s", took)
				}
				if first == "" || !strings.Contains(string(status.Trouble), c.says) {
					t.Errorf("the trouble was first %q, then %q; want %q", first, status.Trouble, c.says)
				}
				asked := server.Asked("/api/v1/nodes")
				if n := len(asked); n > 2*3*40 { // a streamed list and two pages, each 15 s
					t.Errorf("asked %d times in 10 minutes", n)
				}
				for i := range asked[1:] {
					if waited := asked[i+1].Sub(asked[i]); waited > 30*time.Second {
						t.Errorf("asked again only after %s", waited)
					}
				}
				if n := network.Open(); n > 2 {
					t.Errorf("%d connections are open", n)
				}
			})
		})
	}
}

// TestForeignEvents: an event about another kind is left out with a notice.
func TestForeignEvents(t *testing.T) {
	server := livetest.New(t)
	server.Put(node("n-1", "4"))
	w := watch(t, server)
	server.SendToWatches("pods", `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"200"}}}`+"\n")
	w.until("the notice", func() bool {
		return slices.ContainsFunc(w.status.Notices, func(n string) bool { return strings.Contains(n, "Skipped an object among the pods") })
	})
}

// TestLogsRecover: a scheduler's log and metrics that can't be read for a while are asked for less and less often, with the reason, and
// read again within 30 s; what does not exist from the beginning is an error.
func TestLogsRecover(t *testing.T) {
	const path = "/api/v1/namespaces/kube-system/pods/kube-scheduler-cp/log"
	synctest.Test(t, func(t *testing.T) {
		server, _, source := inMemory(t)
		server.Answer(path, `I1121 10:57:39.451582       1 schedule_one.go:100] "Attempting to schedule pod" pod="default/web"`+"\n")
		log := source.PodLog("kube-system", "kube-scheduler-cp", "")
		stop := run(t, log)
		time.Sleep(time.Minute)
		before := len(server.Asked(path))
		server.Break(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		time.Sleep(10 * time.Minute)
		if _, status := log.Take(); len(status.Notices) == 0 || !strings.Contains(status.Notices[len(status.Notices)-1], "can't be read") {
			t.Errorf("the notices are %q", status.Notices)
		}
		if asked := len(server.Asked(path)) - before; asked < 20 || asked > 100 {
			t.Errorf("asked %d times in ten minutes", asked)
		}
		server.Break(nil)
		time.Sleep(30 * time.Second)
		if _, status := log.Take(); slices.ContainsFunc(status.Notices, func(n string) bool { return strings.Contains(n, "can't be read") }) {
			t.Errorf("it can be read again, and the notices are %q", status.Notices)
		}
		if took := stop(); took > time.Second {
			t.Errorf("it ended after %s", took)
		}
	})
	server := livetest.New(t)
	server.Refuse("log", http.StatusNotFound)
	source, err := live.New(&rest.Config{Host: server.URL}, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := source.PodLog("kube-system", "kube-scheduler-cp", "").Run(t.Context()); err == nil {
		t.Error("a pod that is not there is no error")
	}
}

// TestLongLine: a line of a followed log that is too long is left out as a whole, with a notice, and the next one is read.
func TestLongLine(t *testing.T) {
	synctest.Test(t, testLongLine)
}

func testLongLine(t *testing.T) {
	source, err := live.New(&rest.Config{Host: "http://127.0.0.1:1"}, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const line = `I1121 10:57:39.451582       1 scheduling_queue.go:100] "Pod moved to an internal scheduling queue" pod="default/%s" event="UnscheduledPodAdd" queue="Active" logger="x"`
	text := fmt.Sprintf(line, strings.Repeat("x", 17<<20)) + "\n" + fmt.Sprintf(line, "web") + "\n"
	log, err := source.FollowLog(t.Context(), "-", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // later lines could add to it
	events, status := log.Take()
	if !slices.ContainsFunc(status.Notices, func(n string) bool { return strings.Contains(n, "longer than 16 MiB") }) {
		t.Errorf("the notices are %q", status.Notices)
	}
	moves := 0
	for _, ev := range events {
		if m, is := ev.Fact.(*sources.Move); is {
			if moves++; m.Pod.Name != "web" {
				t.Errorf("a move of %.40s", m.Pod.Name)
			}
		}
	}
	if moves != 1 {
		t.Errorf("there are %d moves in %d events", moves, len(events))
	}
}
