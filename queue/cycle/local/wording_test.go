package local

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

// TestWording: a message is in the words of the scheduler's release, which decide whether a pod's condition changes. Up to v1.34 it
// names the taint (tainttoleration/taint_toleration.go, Filter), from v1.34 to v1.36 it says what DynamicResources, which comes before
// DefaultPreemption, did about the pod's claims (dynamicresources/dynamicresources.go, PostFilter).
func TestWording(t *testing.T) {
	gpu := aNode("gpu", taint("gpu"))
	gpu.Spec.Taints[0].Value = "big"
	const named, unnamed, claims, preempts = "0/2 nodes are available: 1 node(s) had untolerated taint {gpu: big}, 1 node(s) were unschedulable.",
		"0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.",
		" no new claims to deallocate,", " preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	for _, c := range []struct{ version, filters, claims string }{
		{"v1.33.0", named, ""}, {"v1.34.1", named, claims}, {"v1.35.0", unnamed, claims}, {"v1.36.1", unnamed, claims}, {"v1.37.1", unnamed, ""},
	} {
		t.Run(c.version, func(t *testing.T) {
			st := newStoryWith(t, defaultConfig(t).Of(c.version), 1, gpu, aNode("cordoned", func(n *v1.Node) { n.Spec.Unschedulable = true }))
			if got, want := st.tries(aPod("web")).Message, c.filters+c.claims+preempts; got != want {
				t.Errorf("it says\n%q, want\n%q", got, want)
			}
			if got, err := st.Judge(aPod("web")); err != nil || got.Message != c.filters {
				t.Errorf("judged, it says %q, %v, want %q", got.Message, err, c.filters)
			}
		})
	}
}

// TestWordingOfAnError: where a PreFilter plugin before DynamicResources rejected the pod, its PostFilter fails, and that is all that is
// said (framework/runtime/framework.go, RunPostFilterPlugins).
func TestWordingOfAnError(t *testing.T) {
	st := newStoryWith(t, defaultConfig(t).Of("v1.35.0"), 1, aNode("one"))
	const want = `0/1 nodes are available: persistentvolumeclaim "none" not found. not found`
	if got := st.tries(aPod("web", uses("none"))).Message; got != want {
		t.Errorf("it says\n%q, want\n%q", got, want)
	}
}
