package explain_test

import (
	"testing"

	"github.com/schedq/schedq/queue/session/explain"
)

// TestPostFilter: upstream's messages about preemption as sentences, and others as they are.
func TestPostFilter(t *testing.T) {
	for _, c := range []struct{ rest, nominated, want string }{
		{"", "", ""},
		{"not found", "", ""},
		{"no new claims to deallocate", "", ""},
		{"freed claim gpu-0", "", "PostFilter: freed claim gpu-0"},
		{
			"no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.", "",
			"Preemption: it would not help on any node.",
		},
		{"freed claim gpu-0, preemption: not eligible due to preemptionPolicy=Never.", "", "PostFilter: freed claim gpu-0, preemption: not eligible due to preemptionPolicy=Never."},
		{
			"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.", "",
			"Preemption: it would not help on any node.",
		},
		{
			"preemption: 0/5 nodes are available: 1 Insufficient cpu, 2 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.", "",
			`Preemption: on 1 node, evicting all lower-priority pods would leave "Insufficient cpu"; 2 nodes have no lower-priority pod to evict; it would not help on 2 nodes.`,
		},
		{"preemption: not eligible due to preemptionPolicy=Never.", "", "Preemption: the pod's preemptionPolicy is Never."},
		{"preemption: not eligible due to a terminating pod on the nominated node.", "n-1", "Preemption: it waits for evicted pods on its nominated node to end."},
		{"preemption: found a potential placement for pod on node n-1, preempting 2 victims", "n-1", "Preemption: it chose n-1 and evicts 2 pods there."},
		{
			"preemption: found a potential placement for pod on node n-1, preempting 1 victims", "",
			"Preemption: it chose n-1 and evicts 1 pod there. The pod is not nominated to n-1 any more.",
		},
		{"preemption: something new", "", "preemption: something new"},
	} {
		if got := explain.PostFilter(c.rest, c.nominated); got != c.want {
			t.Errorf("%q becomes\n  %s\nwant\n  %s", c.rest, got, c.want)
		}
	}
}
