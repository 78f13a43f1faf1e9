package registered

import (
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestMatches compares matches and Unrolled with upstream's functions.
func TestMatches(t *testing.T) {
	registered := []fwk.ClusterEvent{{Resource: fwk.WildCard, ActionType: fwk.All}, {Resource: fwk.WildCard, ActionType: fwk.Update},
		{Resource: fwk.Pod, ActionType: fwk.Update}, {Resource: fwk.Pod, ActionType: fwk.UpdatePodLabel | fwk.Delete}}
	events := append(queue.InjectableEvents(), queue.MoveAll, fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodToleration},
		fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Add})
	for _, r := range append(registered, events...) {
		for _, e := range events {
			if got, want := matches(r, e), framework.MatchClusterEvents(r, e); got != want {
				t.Errorf("matches(%s, %s) = %t, want upstream's %t", r.Label(), e.Label(), got, want)
			}
		}
	}
	anyPod := registered[3]
	for i, e := range Unrolled([]fwk.ClusterEventWithHint{{Event: anyPod}}) {
		if want := framework.UnrollPodEvent(anyPod)[i]; e.Event != want {
			t.Errorf("Unrolled returns %s, want upstream's %s", e.Event.Label(), want.Label())
		}
	}
}
