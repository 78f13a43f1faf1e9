package evidence

import (
	"testing"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/sources"
)

// TestServes: what is told of pods that are left to another scheduler shows no failure, no binding and no request of this one's.
func TestServes(t *testing.T) {
	events := []sources.Event{
		changed(1, sources.Added, pod("ours", "")), changed(1, sources.Added, pod("theirs", "")), changed(1, sources.Added, pod("gone", "")),
		failed(10, "theirs"), patched(0, 12, "theirs"), changed(20, sources.Updated, pod("theirs", "node")), changed(25, sources.Deleted, pod("gone", "")),
		failed(30, "ours"), patched(0, 32, "ours"), changed(40, sources.Updated, pod("ours", "node")),
	}
	f := NewUntold(nil, reach, requesting, rate.NewLimiter(rate.Every(time.Hour), 10), 8, 0)
	f.Serves(func(p *v1.Pod) bool { return p.Name == "ours" })
	f.Read(Of(events))
	if first := f.Failure(at(0), time.Second); first == nil || first.UID != "ours" {
		t.Errorf("the first failure is %v", first)
	}
	var bound []string
	for s := range f.Bindings(at(0), time.Second) {
		bound = append(bound, string(s.UID))
	}
	if len(bound) != 1 || bound[0] != "ours" {
		t.Errorf("bound are %v", bound)
	}
	if n := f.BoundSince(at(0)); n != 1 {
		t.Errorf("%d pods are bound", n)
	}
	if seen := f.Fate("ours", at(35), time.Second); seen == nil || seen.Waited {
		t.Errorf("the binding had waited behind another scheduler's requests: %+v", seen)
	}
	for uid, want := range map[string]bool{"ours": false, "theirs": true, "gone": false, "unknown": false} {
		if got := f.IsOfAnother(pod(uid, "").UID); got != want {
			t.Errorf("%s is of another: %v", uid, got)
		}
	}
}
