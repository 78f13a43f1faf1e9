package evidence

import (
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// boundBy is that a pod got its node at the second moment, by a request that the API server had at the first.
func boundBy(sent, ms int, name string) sources.Event {
	ev := changed(ms, sources.Updated, pod(name, "node"))
	ev.Fact.(*sources.ObjectChange).Sent = at(sent)
	return ev
}

// TestSentBinding: a pod was placed by when its binding was sent.
func TestSentBinding(t *testing.T) {
	f := New(Of([]sources.Event{boundBy(20, 90, "a"), changed(100, sources.Updated, pod("b", "node"))}), reach, requesting, unlimited())
	if seen := f.Attempt("a", at(21), time.Second); seen != nil {
		t.Errorf("%+v shows an attempt that is not over", seen)
	}
	seen := f.Attempt("a", at(20), time.Second)
	if seen == nil || !seen.By.Equal(at(20)) || !seen.Time.Equal(at(90)) {
		t.Fatalf("%+v", seen)
	}
	if other := f.Attempt("b", at(50), time.Second); !seen.KnowsSent() || other.KnowsSent() {
		t.Error("it is known when the one was sent, and not of the other")
	}
}

// TestBoundSince: pods that got their node are counted once.
func TestBoundSince(t *testing.T) {
	f := New(Of([]sources.Event{boundBy(5, 10, "a"), boundBy(15, 20, "b"), changed(25, sources.Updated, pod("b", "node")), changed(30, sources.Updated, endedPod("c")),
		changed(35, sources.Added, pod("d", "node")), changed(40, sources.Deleted, pod("b", "node"))}), reach, requesting, unlimited())
	for since, want := range map[int]int{5: 2, 10: 1, 20: 1, 25: 0} {
		if got := f.BoundSince(at(since)); got != want {
			t.Errorf("since %d ms %d pods got their node, want %d", since, got, want)
		}
	}
}
