package live

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/schedq/schedq/sources"
)

func at(seconds float64) time.Time {
	return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

// reading is a cluster of which pods, nodes and leases are watched since 0.
func reading() *watchSet {
	w := newWatches("nodes", "pods", "leases")
	w.Begin(at(0))
	for _, name := range w.names {
		w.Watched(at(0), name)
	}
	return w
}

func (w *watchSet) tell(seconds float64) []sources.Resource {
	return w.Report(at(seconds), func(string) int { return 1 })
}

// TestOverdue: a list of which nothing comes is trouble after some time, and none as soon as something comes.
func TestOverdue(t *testing.T) {
	w := newWatches("nodes", "pods")
	w.Begin(at(0))
	if got := TroubleOf(w.tell(2)); got != "" {
		t.Errorf("too early: %q", got)
	}
	if got := TroubleOf(w.tell(2.1)); got != overdueText {
		t.Errorf("all: %q", got)
	}
	w.Streamed(at(2.1), "nodes")
	if got, want := TroubleOf(w.tell(2.2)), "pods can't be read: "+overdueText; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestUnheard: a watch is not heard from its end until the next one goes on. That shows as trouble when it takes long, or when
// a request fails.
func TestUnheard(t *testing.T) {
	w := reading()
	w.tell(4)
	w.Ended(at(5), "pods")
	r := w.tell(6)[1]
	if !r.Gap.Lasts() || !r.Gap.Since.Equal(at(5)) || r.Broken() || w.Delivers(at(6), "pods") || !w.Delivers(at(6), "nodes") {
		t.Errorf("it has ended: %+v", r)
	}
	if r = w.tell(8)[1]; !r.Broken() || r.Trouble != endedText {
		t.Errorf("for long: %+v", r)
	}
	w.Streamed(at(8.5), "pods")
	if r = w.tell(8.6)[1]; r.State != sources.ResourceListing || r.Objects != 1 {
		t.Errorf("listed anew: %+v", r)
	}
	w.Watched(at(9), "pods")
	r = w.tell(9.01)[1]
	if r.Gap != (sources.Gap{Since: at(5), Until: at(9)}) || r.Broken() || r.State != sources.ResourceWatched {
		t.Errorf("watched again: %+v", r)
	}
	if w.Delivers(at(9.01), "pods") || !w.Delivers(at(9.2), "pods") {
		t.Error("missed events arrive at once, and no others are delayed")
	}
	w.Ended(at(9.02), "pods")
	w.Watched(at(9.03), "pods")
	w.Ended(at(9.04), "pods")
	w.Watched(at(9.05), "pods")
	if r = w.tell(9.06)[1]; r.Gap != (sources.Gap{Since: at(9.02), Until: at(9.05)}) {
		t.Errorf("two ends before one was reported: %+v", r)
	}
}

// TestStaleSince: the cluster is stale once none of its watches works, apart from unavailable resources.
func TestStaleSince(t *testing.T) {
	w := reading()
	w.Unavailable(at(1), "leases", sources.ResourceForbidden, "forbidden")
	w.Failed(at(2), "pods", "refused")
	if all := w.tell(3); !StaleSince(all).IsZero() || TroubleOf(all) != "pods can't be read: refused" {
		t.Errorf("stale since %v, the trouble is %q", StaleSince(all), TroubleOf(all))
	}
	w.Failed(at(4), "nodes", "refused")
	if got := StaleSince(w.tell(5)); !got.Equal(at(4)) {
		t.Errorf("stale since %v", got)
	}
	if r := w.tell(5)[2]; !r.Gap.Lasts() {
		t.Errorf("a forbidden resource is watched: %+v", r)
	}
	w.Watched(at(6), "pods")
	if got := StaleSince(w.tell(7)); !got.IsZero() {
		t.Errorf("stale since %v, although pods are watched", got)
	}
}

// TestAttachedWithout: what begins without a list hears nothing of it until that is in.
func TestAttachedWithout(t *testing.T) {
	w := newWatches("pods", "events")
	w.Begin(at(0))
	w.Watched(at(1), "pods")
	w.Failed(at(1), "events", "refused")
	if w.Ready(false) || !w.Ready(true) {
		t.Error("it waits for lists that fail, until it need not any more")
	}
	w.Attached(at(15))
	if all := w.tell(16); !all[0].Gap.Since.IsZero() || all[1].Gap != (sources.Gap{Since: at(15)}) {
		t.Errorf("they are %+v", all)
	}
}

// TestNoted: what a watch tells is handed on, and that it ended is noted once, before anybody learns it.
func TestNoted(t *testing.T) {
	for _, stops := range []bool{false, true} {
		fake := watch.NewFake()
		ended := 0
		w := noteWatch(fake, 0, func() { ended++ }, func(error) {}, func(runtime.Object) {})
		go fake.Error(nil)
		if ev := <-w.ResultChan(); ev.Type != watch.Error {
			t.Errorf("it tells %v", ev)
		}
		if stops {
			w.Stop()
		} else {
			fake.Stop()
			<-w.ResultChan()
		}
		if ended != 1 {
			t.Errorf("stopped %v, it ended %d times", stops, ended)
		}
		w.Stop()
		if ended != 1 {
			t.Errorf("stopped again, it ended %d times", ended)
		}
	}
}

// TestStopped: a time in which the process did not run is a gap. A watch that still works ends it once it can have delivered
// what it missed; after one that ended meanwhile, the next watch does.
func TestStopped(t *testing.T) {
	w := reading()
	for i := range 5 {
		w.Runs(at(float64(i)))
	}
	w.Runs(at(49))
	w.Ended(at(49.1), "nodes")
	for _, r := range w.tell(49.2) {
		if !r.Broken() || !r.Gap.Since.Equal(at(4)) || r.Trouble == "" {
			t.Errorf("it goes on: %+v", r)
		}
	}
	if since := StaleSince(w.tell(49.2)); !since.Equal(at(4)) {
		t.Errorf("stale since %v", since)
	}
	w.Runs(at(50))
	w.Runs(at(51))
	w.Runs(at(52))
	nodes, pods := w.tell(52)[0], w.tell(52)[1]
	if !nodes.Gap.Lasts() || pods.Gap != (sources.Gap{Since: at(4), Until: at(51)}) || pods.Trouble != "" {
		t.Errorf("nodes are %+v, pods %+v", nodes, pods)
	}
	w.Watched(at(53), "nodes")
	if r := w.tell(53)[0]; r.Gap != (sources.Gap{Since: at(4), Until: at(53)}) {
		t.Errorf("nodes are %+v", r)
	}
	for i := range 20 { // a clock that is set back, and one that runs
		w.Runs(at(float64(10 + i)))
	}
	if r := w.tell(30)[1]; r.Gap.Lasts() {
		t.Errorf("pods are %+v", r)
	}
}
