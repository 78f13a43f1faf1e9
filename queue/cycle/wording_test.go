package cycle

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

// TestWording checks messages by release, which determine whether the scheduler writes a pod's
// condition. Until v1.34, they name the taint (Filter in tainttoleration/taint_toleration.go); from
// v1.34 to v1.36, they contain the result of DynamicResources (PostFilter in
// dynamicresources/dynamicresources.go).
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
			st := newStoryWith(t, defaultConfig(t).ForVersion(c.version), 1, gpu, aNode("cordoned", func(n *v1.Node) { n.Spec.Unschedulable = true }))
			if got, want := st.tries(aPod("web")).Message, c.filters+c.claims+preempts; got != want {
				t.Errorf("it says\n%q, want\n%q", got, want)
			}
			if got, err := st.Judge(aPod("web")); err != nil || got.Message != c.filters {
				t.Errorf("judged, it says %q, %v, want %q", got.Message, err, c.filters)
			}
		})
	}
}

// TestWordingOfPreemption checks that until v1.33, preemption is tried on nodes with too small a
// capacity (Filter in noderesources/fit.go), and that until v1.36, a successful preemption adds no
// message (Preempt in preemption/preemption.go).
func TestWordingOfPreemption(t *testing.T) {
	const short, big = "0/2 nodes are available: 1 node(s) were unschedulable, 1 Insufficient cpu.", "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."
	const tried, left = " preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
		" preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	const claims, helps = " no new claims to deallocate,", " preemption: found a potential placement for pod on node one, preempting 1 victims"
	for _, c := range []struct{ version, tooBig, important string }{
		{"v1.31.4", tried, ""}, {"v1.33.0", tried, ""}, {"v1.34.1", claims + left, ""}, {"v1.36.1", claims + left, ""}, {"v1.37.1", left, helps},
	} {
		t.Run(c.version, func(t *testing.T) {
			st := newStoryWith(t, defaultConfig(t).ForVersion(c.version), 1, aNode("one"), aNode("cordoned", func(n *v1.Node) { n.Spec.Unschedulable = true }))
			if got := st.tries(aPod("huge", requests("cpu", "1k"))).Message; got != big+c.tooBig && got != short+c.tooBig {
				t.Errorf("of a pod that no node could hold it says\n%q, want\n%q", got, big+c.tooBig)
			}
			st.binds(aPod("small", requests("cpu", "4")))
			got := st.tries(aPod("important", priority(10), requests("cpu", "4")))
			if want := big + c.important; got.Message != want || got.Nominated != "one" {
				t.Errorf("of one that preempts it says\n%q of node %q, want\n%q", got.Message, got.Nominated, want)
			}
		})
	}
}

// TestWordingOfAnError checks the message when a PreFilter plugin before DynamicResources rejects
// the pod, so that the latter's PostFilter fails (RunPostFilterPlugins in
// framework/runtime/framework.go). Before v1.34, DynamicResources was off by default.
func TestWordingOfAnError(t *testing.T) {
	const rejected, fails = `0/1 nodes are available: persistentvolumeclaim "none" not found.`, " not found"
	const preempts = " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
	for version, says := range map[string]string{"v1.31.4": preempts, "v1.33.0": preempts, "v1.34.1": fails, "v1.35.0": fails, "v1.37.1": fails} {
		st := newStoryWith(t, defaultConfig(t).ForVersion(version), 1, aNode("one"))
		if got, want := st.tries(aPod("web", uses("none"))).Message, rejected+says; got != want {
			t.Errorf("%s says\n%q, want\n%q", version, got, want)
		}
	}
}
