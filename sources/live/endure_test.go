package live_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/live/livetest"
	"github.com/schedq/schedq/sources/ring"
)

// trouble is what may be wrong with an API server.
type trouble struct {
	begin, end func(*livetest.Server, *livetest.Network)
}

// troubles are by name.
var troubles = map[string]trouble{
	"the server is down": {
		func(s *livetest.Server, n *livetest.Network) { n.SetDown(true); s.CloseClientConnections() },
		func(_ *livetest.Server, n *livetest.Network) { n.SetDown(false) }},
	"watches are cut":        {func(s *livetest.Server, _ *livetest.Network) { s.CutWatches() }, mend},
	"connections are cut":    {func(s *livetest.Server, _ *livetest.Network) { s.CloseClientConnections() }, mend},
	"etcd is compacted":      {func(s *livetest.Server, _ *livetest.Network) { s.Compact(); s.CutWatches() }, mend},
	"500":                    broken(answerStatus(500, "InternalError", "")),
	"503":                    broken(answerStatus(503, "ServiceUnavailable", "")),
	"429":                    broken(answerStatus(429, "TooManyRequests", "1")),
	"429 for an hour":        broken(answerStatus(429, "TooManyRequests", "3600")),
	"401":                    broken(answerStatus(401, "Unauthorized", "")),
	"403":                    broken(answerStatus(403, "Forbidden", "")),
	"404":                    broken(answerStatus(404, "NotFound", "")),
	"410":                    broken(answerStatus(410, "Expired", "")),
	"a login page":           broken(answerText("text/html", "<html>log in</html>")),
	"CBOR":                   broken(answerText("application/cbor", "\xd9\xd9\xf7")),
	"damaged JSON":           broken(answerText("application/json", `{"kind":"PodList","items":[{"a":`)),
	"damaged protobuf":       broken(answerText("application/vnd.kubernetes.protobuf", "k8s\x00\xff\xff\xff")),
	"a list without end":     broken(answerText("application/json", `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"again"},"items":[]}`)),
	"dropped requests":       broken(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
	"requests that hang":     broken(func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }),
	"an event without end":   sends(`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"containers":[` + strings.Repeat("{},", 270_000)),
	"an event that is junk":  sends("\x00\xff{{{\n"),
	"an error event":         sends(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","message":"no","code":500}}` + "\n"),
	"an expired watch event": sends(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"old","code":410}}` + "\n"),
}

func mend(s *livetest.Server, _ *livetest.Network) { s.Break(nil) }

func broken(fault http.HandlerFunc) trouble {
	return trouble{func(s *livetest.Server, _ *livetest.Network) { s.Break(fault); s.CutWatches() }, mend}
}

func sends(text string) trouble {
	return trouble{func(s *livetest.Server, _ *livetest.Network) { s.SendToWatches("pods", text) }, mend}
}

func answerStatus(code int, reason, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"no","code":%d}`, reason, code)
	}
}

func answerText(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, text)
	}
}

// TestTwoDays watches and records a cluster for two days (with -short for four hours) in which its API server drops, lies and recovers.
// Each time all is known again within 30 s, and neither memory nor connections nor goroutines grow.
func TestTwoDays(t *testing.T) {
	lasts := 48 * time.Hour
	if testing.Short() {
		lasts = 4 * time.Hour
	}
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server, network, source := inMemory(t)
		out, err := ring.Create(t.Context(), folder, ring.Bound{Age: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		recorder := ring.Record(source, out)
		server.Put(node("n-1", "4"))
		stop := run(t, recorder)
		pods := map[string]bool{} // according to the events
		var status sources.Status
		take := func() {
			var events []sources.Event
			events, status = recorder.Take()
			for _, ev := range events {
				if c, is := ev.Fact.(*sources.ObjectChange); is && c.Object.GetObjectKind().GroupVersionKind().Kind == "Pod" {
					if name := c.Object.(metav1.Object).GetName(); c.Verb == sources.Deleted {
						delete(pods, name)
					} else {
						pods[name] = true
					}
				}
			}
		}
		names := make([]string, 0, len(troubles))
		for name := range troubles {
			names = append(names, name)
		}
		slices.Sort(names)
		random := rand.New(rand.NewPCG(57, 0))
		there := map[string]bool{}
		change := func() {
			name := fmt.Sprint("pod-", random.IntN(50))
			if there[name] = !there[name]; there[name] {
				server.Put(pod(name, ""))
			} else {
				server.Delete(pod(name, ""))
				delete(there, name)
			}
		}
		var longest time.Duration
		var by string
		rounds := 0
		var first, last usage
		for began := time.Now(); time.Since(began) < lasts; rounds++ {
			name := names[random.IntN(len(names))]
			if rounds < len(names) {
				name = names[rounds]
			}
			troubles[name].begin(server, network)
			for until := time.Now().Add(time.Duration(1+random.IntN(600)) * time.Second); time.Now().Before(until); time.Sleep(5 * time.Second) {
				change()
				take()
			}
			troubles[name].end(server, network)
			ended := time.Now()
			for take(); !status.StaleSince.IsZero() || status.Trouble != "" || !sameKeys(pods, there) || status.Attached.IsZero(); take() {
				if time.Since(ended) > time.Minute {
					t.Fatalf("%s: not recovered: %q, stale since %v, %d pods of %d", name, status.Trouble, status.StaleSince, len(pods), len(there))
				}
				time.Sleep(time.Second)
			}
			if took := time.Since(ended); took > longest {
				longest, by = took, name
			}
			time.Sleep(time.Duration(random.IntN(300)) * time.Second)
			server.Compact() // the server keeps less
			if take(); rounds == len(names) {
				first = measure(network)
			}
			last = measure(network)
		}
		t.Logf("%d troubles; recovered within %s at most (%s); at first %+v, in the end %+v", rounds, longest, by, first, last)
		if longest > 31*time.Second { // looked at each second
			t.Errorf("%s: recovered only after %s", by, longest)
		}
		if first.heap > 0 && (last.heap > first.heap+4<<20 || last.goroutines > first.goroutines+10 || last.connections > first.connections+5) {
			t.Errorf("it grows: %+v, then %+v", first, last)
		}
		if took := stop(); took > time.Second {
			t.Errorf("it ended after %s", took)
		}
		if err := recorder.Close(); err != nil {
			t.Error(err)
		}
	})
	played := 0
	r, err := ring.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Events(t.Context(), ring.ReadOptions{Strict: true}) {
		if err != nil {
			t.Fatal(err)
		}
		played++
	}
	if played < 100 {
		t.Errorf("the recording has %d events", played)
	}
}

// usage is what a source takes.
type usage struct{ heap, goroutines, connections int }

func measure(network *livetest.Network) usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{int(m.HeapAlloc), runtime.NumGoroutine(), network.Open()}
}

func sameKeys(a, b map[string]bool) bool {
	for name := range a {
		if !b[name] {
			return false
		}
	}
	return len(a) == len(b)
}
