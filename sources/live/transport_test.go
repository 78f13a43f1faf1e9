package live_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/schedq/schedq/sources/live"
	"github.com/schedq/schedq/sources/live/livetest"
)

// TestRedirectsAreNotFollowed: credentials go to the API server and to nobody else, wherever it points.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	for _, code := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, other.URL+req.URL.Path, code)
		}))
		t.Cleanup(server.Close)
		source, err := live.New(&rest.Config{Host: server.URL, BearerToken: "secret-token"}, live.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = source.Check(t.Context(), server.URL)
		if err == nil || !strings.Contains(err.Error(), "a redirect to "+strings.TrimPrefix(other.URL, "http://")) || strings.Contains(err.Error(), "secret-token") {
			t.Errorf("%d: %v", code, err)
		}
		client := live.ReadOnlyClient(t, server.URL)
		if _, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("%d: a list: %v", code, err)
		}
		metrics, err := live.NewMetrics(server.URL, live.MetricsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := live.Scrape(metrics); err == nil || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("%d: metrics: %v", code, err)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

// TestAnswersAreBounded: a server that sends without end ends the source, with the bound, whichever way it does.
func TestAnswersAreBounded(t *testing.T) {
	const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[`
	forever := func(w io.Writer, text string) {
		for {
			if _, err := io.WriteString(w, strings.Repeat(text, 1000)); err != nil {
				return
			}
		}
	}
	noStream := func(w http.ResponseWriter, req *http.Request) bool {
		if req.URL.Query().Get("watch") != "" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return true
		}
		return false
	}
	var pages atomic.Int32
	for name, c := range map[string]struct {
		serve func(http.ResponseWriter, *http.Request)
		says  string
	}{
		"an endless page": {func(w http.ResponseWriter, req *http.Request) {
			if !noStream(w, req) {
				fmt.Fprint(w, list)
				forever(w, `{"metadata":{"name":"a","namespace":"b"}},`)
			}
		}, "the list of pods can't be read: the API server: the responses in progress are larger than 1 MiB"},
		"empty objects": {func(w http.ResponseWriter, req *http.Request) {
			if !noStream(w, req) {
				fmt.Fprint(w, list+strings.Repeat("{},", 5000)+"{}]}") // 15 KB, and 6 MB of pods
			}
		}, "larger than 1 MiB"},
		"a bomb": {func(w http.ResponseWriter, req *http.Request) {
			if !noStream(w, req) {
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				fmt.Fprint(z, list, strings.Repeat(" ", 8<<20), "]}")
				z.Close()
			}
		}, "larger than 1 MiB"},
		"pages without end": {func(w http.ResponseWriter, req *http.Request) {
			if !noStream(w, req) {
				page := strings.Replace(list, `"1"`, fmt.Sprintf(`"1","continue":"%d"`, pages.Add(1)), 1)
				fmt.Fprint(w, page+strings.Repeat(`{"metadata":{"name":"a","namespace":"b"}},`, 400)+"{}]}")
			}
		}, "the pods of the cluster take more than 1 MiB"},
		"a stream without end": {func(w http.ResponseWriter, req *http.Request) {
			forever(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"b"}}}`+"\n")
		}, "the pods of the cluster take more than 1 MiB"},
		"a watch without end": {func(w http.ResponseWriter, req *http.Request) {
			switch {
			case req.URL.Query().Get("sendInitialEvents") != "":
				w.WriteHeader(http.StatusUnprocessableEntity)
			case req.URL.Query().Get("watch") != "":
				for i := 0; ; i++ {
					if _, err := fmt.Fprintf(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a-%d","namespace":"b"}}}`+"\n", i); err != nil {
						return
					}
				}
			default:
				fmt.Fprint(w, list+"]}")
			}
		}, "the pods of the cluster take more than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case req.URL.Path == "/version":
					fmt.Fprint(w, "{}")
				case req.URL.Path == "/api/v1/pods":
					c.serve(w, req)
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			}))
			t.Cleanup(server.Close)
			source, err := live.New(&rest.Config{Host: server.URL}, live.Options{MaxAnswer: 1 << 20, MaxList: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if err := source.Run(ctx); err == nil || !strings.Contains(err.Error(), c.says) {
				_, status := source.Take()
				t.Errorf("it ended with %v, want %q; %+v", err, c.says, status.Trouble)
			}
		})
	}
}

// TestWatchEventsAreBounded: an event that is too large ends its watch, with a reason, and the next watch begins.
func TestWatchEventsAreBounded(t *testing.T) {
	server := livetest.New(t)
	server.Put(node("n-1", "4"), pod("web", ""))
	w := watch(t, server)
	server.SendToWatches("pods", `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"containers":[`+strings.Repeat("{},", 300_000))
	w.until("the reason", func() bool { return strings.Contains(string(w.status.Trouble), "larger than 64 MiB") })
	server.Put(pod("new", ""))
	w.until("the next watch", func() bool { return slices.Contains(w.told(), "added new") && w.status.Trouble == "" })
}

// TestForeignAnswers: an answer of another type than was asked for is an error that names the type, and leaves no connection open.
func TestForeignAnswers(t *testing.T) {
	var open atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>log in</html>")
		w.(http.Flusher).Flush()
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := live.ReadOnlyClient(t, server.URL)
	for range 50 {
		if _, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), "text/html") {
			t.Fatalf("a watch: %v", err)
		}
		if _, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), "text/html") {
			t.Fatalf("a list: %v", err)
		}
	}
	if n := open.Load(); n > 5 {
		t.Errorf("%d connections are open", n)
	}
}
