package evidence

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// boundBy is that a pod got its node at the second moment, by a request that the API server had at the first.
func boundBy(sent, ms int, name string) sources.Event {
	ev := changed(ms, sources.Updated, pod(name, "node"))
	ev.Fact.(*sources.ObjectChange).Sent = at(sent)
	return ev
}

// TestPauses: whether the loop, from 100 to 200 ms, is seen to have nothing to do for more than 30 ms.
func TestPauses(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []sources.Event
		want   bool
	}{
		{"nothing is seen", nil, true},
		{"attempts fail all the time", []sources.Event{failed(110, "a"), failed(140, "b"), failed(170, "c"), failed(200, "d")}, false},
		{"attempts fail, but not at first", []sources.Event{failed(140, "a"), failed(170, "b")}, true},
		{"attempts fail, but not at last", []sources.Event{failed(110, "a"), failed(140, "b"), failed(165, "c")}, true},
		{"it waits for a patch", []sources.Event{patched(105, 190, "a")}, false},
		{"it waited for a patch that was answered before", []sources.Event{patched(90, 99, "a"), failed(135, "b"), failed(160, "c")}, true},
		{"a patch is sent later, and waited since its attempt failed", []sources.Event{failed(105, "a"), patched(180, 190, "a")}, false},
		{"a patch is sent later", []sources.Event{patched(180, 190, "a")}, true},
		{"pods are bound, as is told much later", []sources.Event{boundBy(120, 900, "a"), boundBy(150, 910, "b"), boundBy(180, 920, "c")}, false},
		{"pods are bound too late", []sources.Event{boundBy(220, 230, "a")}, true},
		{"a pod runs that has its node", []sources.Event{changed(130, sources.Updated, endedPod("a")), failed(160, "b"), failed(190, "c")}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(Of(c.events), reach, requesting, unlimited())
			if got := f.Pauses(at(100), 100*time.Millisecond, 30*time.Millisecond); got != c.want {
				t.Errorf("it pauses: %t", got)
			}
		})
	}
}

// TestSentBinding: a pod was placed by when its binding was sent.
func TestSentBinding(t *testing.T) {
	f := New(Of([]sources.Event{boundBy(20, 90, "a"), changed(100, sources.Updated, pod("b", "node"))}), reach, requesting, unlimited())
	if seen := f.Attempt("a", at(21), time.Second); seen != nil {
		t.Errorf("%+v shows an attempt, and it was over by then", seen)
	}
	seen := f.Attempt("a", at(20), time.Second)
	if seen == nil || !seen.By.Equal(at(20)) || !seen.Time.Equal(at(90)) {
		t.Fatalf("%+v", seen)
	}
	if other := f.Attempt("b", at(50), time.Second); !seen.KnowsSent() || other.KnowsSent() {
		t.Error("it is known when the one was sent, and not of the other")
	}
}

// TestSentBehindAnswer: no request is sent behind its answer, whatever a log says.
func TestSentBehindAnswer(t *testing.T) {
	f := New(Of([]sources.Event{patched(60, 50, "a"), boundBy(90, 80, "b")}), reach, requesting, unlimited())
	for uid, want := range map[types.UID]time.Time{"a": at(50).Add(-requesting), "b": at(80)} {
		if seen := f.Attempt(uid, at(0), time.Second); !seen.By.Equal(want) {
			t.Errorf("%s's was sent by %s, want %s", uid, seen.By, want)
		}
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
