package audit

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/lines"
)

// logsOf are logs with these texts.
func logsOf(texts ...string) (all []*Log) {
	for i, text := range texts {
		at, _ := Sniff([]byte(text))
		all = append(all, NewLog(at, func(ctx context.Context) (*lines.Reader, func(), error) {
			r, err := lines.New(ctx, fmt.Sprintf("audit-%d.log", i), time.Time{}, io.NopCloser(strings.NewReader(text)))
			return r, func() {}, err
		}))
	}
	return all
}

// long reads logs as those are that are not kept. memory is how many bytes may wait.
func long(texts []string, seed earlier.Seed, memory int, visit func(sources.Event)) (fit earlier.Fit, events []sources.Event, err error) {
	l, err := Survey(context.Background(), logsOf(texts...), len(seed.Objects) > 0, memory, func() func(sources.Event) { return visit })
	if err != nil {
		return fit, nil, err
	}
	fit = l.Begin(seed)
	for ev, err := range l.Events(context.Background()) {
		if err != nil {
			return fit, nil, err
		}
		events = append(events, ev)
	}
	return fit, events, nil
}

// drawSeed draws what a seed tells, which may be nothing.
func drawSeed(t *rapid.T) (s earlier.Seed) {
	decoder := sources.NewDecoder()
	for _, name := range []string{"a", "b/b0", "d/d2", "e"} {
		if !rapid.Bool().Draw(t, "seeded") {
			continue
		}
		created := fmt.Sprintf(`"creationTimestamp":"2026-11-21T%s:00Z"`, rapid.SampledFrom([]string{"09:00", "10:01", "11:00"}).Draw(t, "created"))
		obj, err := decoder.Decode([]byte(pod(name, rapid.IntRange(1, 30).Draw(t, "revision"), created)))
		if err != nil {
			t.Fatal(err)
		}
		s.Objects = append(s.Objects, obj)
	}
	return s
}

// text is an event as a text.
func text(ev sources.Event) string {
	if c, is := ev.Fact.(*sources.ObjectChange); is {
		return fmt.Sprintf("%s %s", show([]sources.Event{ev}), c.Object.(metav1.Object).GetResourceVersion())
	}
	return fmt.Sprintf("%s %T %+v", ev.Time.Format("05.000000000"), ev.Fact, ev.Fact)
}

// line is a drawn line, and the second at which it is written.
type drawnLine struct {
	at   float64
	text string
}

// TestLong: logs that are not kept tell the same as those that are, whatever overlaps in them, and whatever they begin with.
func TestLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []drawnLine
		tell := func(at float64, r req) {
			r.at = at
			all = append(all, drawnLine{at, by(rapid.SampledFrom([]string{"kube-scheduler/v1.37.1 (linux/amd64) kubernetes/1234567/scheduler", "kubelet/v1.37.1"}).Draw(t, "agent"), r)})
		}
		late := func(most float64) float64 { return rapid.Float64Range(0, most).Draw(t, "late") }
		now := 0.0
		is := map[string]req{} // the last answer of a pod and of the node, which a request that changes nothing gets, too
		change := func(name string, r req) {
			is[name] = r
			tell(now+late(3), r)
		}
		for rv := range rapid.IntRange(1, 60).Draw(t, "changes") {
			rv++
			now += late(2)
			name := rapid.SampledFrom([]string{"a", "b", "c", "d/d2", "d/d3"}).Draw(t, "pod")
			plain, _, _ := strings.Cut(name, "/")
			more := rapid.SampledFrom([][]string{nil, nil, {onNode}, {onNode, terminated}, {old}, {old, onNode}}).Draw(t, "more")
			// No two attempts end in the same microsecond.
			switch rapid.IntRange(0, 11).Draw(t, "what") {
			case 0:
				change(plain, req{verb: "create", resource: "pods", ns: "default", response: pod(name, rv)})
			case 1, 2, 3:
				change(plain, status(0, plain, rv, more...))
			case 4:
				tell(now+late(3), req{verb: "create", resource: "pods", sub: "binding", ns: "default", name: plain, body: `{"target":{"name":"node-a"}}`, response: success})
			case 5:
				tell(now+late(3), req{verb: "delete", resource: "pods", ns: "default", name: plain, response: pod(name, max(1, rv-rapid.IntRange(0, 2).Draw(t, "behind")), killed, onNode)})
			case 6:
				change("node-a", req{verb: "update", resource: "nodes", name: "node-a", response: node(rv, "")})
			case 7:
				tell(now+late(3), req{verb: "delete", resource: "nodes", name: "node-a", response: deletedNode})
			case 8:
				at := time.Date(2026, 11, 21, 10, 0, 0, int(now*1e9)+1000*rv, time.UTC).Format("2006-01-02T15:04:05.000000Z")
				tell(now+late(40), failedScheduling(0, "create", strings.Replace(failed, "2026-11-21T10:00:01.002003Z", at, 1)))
			case 9:
				at := time.Date(2026, 11, 21, 10, 0, 0, int(now*1e9)+1000*rv, time.UTC)
				tell(now+late(40), req{verb: "create", resource: "events.k8s.io/events", ns: "default", name: fmt.Sprintf("%s.%x", plain, at.UnixNano()), level: "Metadata"})
			case 10, 11:
				if r, there := is[rapid.SampledFrom([]string{plain, "node-a"}).Draw(t, "unchanged")]; there {
					r.verb = "patch"
					tell(now+late(3), r)
				}
			}
		}
		slices.SortStableFunc(all, func(a, b drawnLine) int { return cmp.Compare(a.at, b.at) })
		texts := make([]string, rapid.IntRange(1, 3).Draw(t, "logs"))
		for i, l := range all {
			to := i * len(texts) / len(all) // one after the other
			if len(texts) > 1 && rapid.Bool().Draw(t, "beside") {
				to = 0
			}
			texts[to] += l.text
		}
		texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
		var logs []*Log
		for _, text := range texts {
			r, err := lines.New(context.Background(), "audit.log", time.Time{}, io.NopCloser(strings.NewReader(text)))
			if err != nil {
				t.Fatal(err)
			}
			l, err := keep(r)
			if err != nil {
				t.Skip(err)
			}
			logs = append(logs, l)
		}
		seed := drawSeed(t)
		want, fit := orderSeeded(seed, logs...)
		kinds := map[reflect.Type]bool{}
		gotFit, got, err := long(texts, seed, 1<<30, func(ev sources.Event) { kinds[reflect.TypeOf(ev.Fact)] = true })
		if err != nil {
			t.Fatal(err)
		}
		if gotFit != fit {
			t.Fatalf("of the seed %+v, and in memory %+v", gotFit, fit)
		}
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || text(want[i]) != text(got[i]) {
				t.Fatalf("event %d of %d differs from the one in memory, where there are %d:\n%s\n%s", i, len(got), len(want), text(slices.Concat(got, make([]sources.Event, i+1))[i]), text(slices.Concat(want, make([]sources.Event, i+1))[i]))
			}
			if _, is := got[i].Fact.(*sources.FailedAttempt); !is && !kinds[reflect.TypeOf(got[i].Fact)] {
				t.Fatalf("who visits is not shown any %T", got[i].Fact)
			}
		}
	})
}

// TestSurveyedOnce: what is answered with a revision of long ago is not late where it changed nothing, or deleted what
// nobody changed since. What is late is waited for.
func TestSurveyedOnce(t *testing.T) {
	begin := req{at: 0, verb: "create", resource: "nodes", response: node(1, "")}
	for name, test := range map[string]struct {
		last    req
		surveys int
	}{
		"no change": {req{verb: "patch", resource: "nodes", name: "node-a", response: node(1, "")}, 1},
		"deleted":   {req{verb: "delete", resource: "nodes", name: "node-a", response: node(1, "")}, 1},
		"late":      {req{verb: "patch", resource: "nodes", name: "node-a", response: node(2, "")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			test.last.at = 90
			text := begin.line() + req{at: 30, verb: "create", resource: "pods", ns: "default", response: pod("a", 3)}.line() + test.last.line()
			surveys := 0
			_, err := Survey(t.Context(), logsOf(text), false, 1<<30, func() func(sources.Event) {
				surveys++
				return func(sources.Event) {}
			})
			if err != nil || surveys != test.surveys {
				t.Errorf("the log is surveyed %d times, want %d: %v", surveys, test.surveys, err)
			}
		})
	}
}

// TestSurveyLetsGo: once logs are surveyed nothing is kept of the objects that came in them, also of those that were there at the end, nor
// of whoever visited.
func TestSurveyLetsGo(t *testing.T) {
	text := req{verb: "create", resource: "nodes", response: node(1, "")}.line() + req{at: 30, verb: "create", resource: "pods", ns: "default", response: pod("a", 3)}.line()
	var last weak.Pointer[corev1.Pod]
	l, err := Survey(t.Context(), logsOf(text), false, 1<<30, func() func(sources.Event) {
		mind := make([]sources.Event, 0, 4)
		return func(ev sources.Event) {
			mind = append(mind, ev)
			if c, is := ev.Fact.(*sources.ObjectChange); is {
				if pod, is := c.Object.(*corev1.Pod); is {
					last = weak.Make(pod)
				}
			}
		}
	})
	if err != nil || last.Value() == nil {
		t.Fatalf("the pod is missing: %v", err)
	}
	l.Begin(earlier.Seed{})
	runtime.GC()
	if pod := last.Value(); pod != nil {
		t.Errorf("pod %s is kept", pod.Name)
	}
	runtime.KeepAlive(l)
}
