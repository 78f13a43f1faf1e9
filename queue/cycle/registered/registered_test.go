package registered

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestTables: each release's table is read whole, and says what its source does of a plugin that changed.
func TestTables(t *testing.T) {
	for _, release := range []string{"v1.29", "v1.30", "v1.31", "v1.32", "v1.33", "v1.34", "v1.35", "v1.36"} {
		t.Run(release, func(t *testing.T) {
			table, err := In(release)
			if err != nil || len(table) < 12 {
				t.Fatalf("%d plugins, %v", len(table), err)
			}
			wakes, asked := false, false
			for _, e := range table["VolumeRestrictions"] {
				wakes = wakes || e.Resource == fwk.Node && e.ActionType&fwk.UpdateNodeTaint != 0
			}
			for _, e := range table["NodeResourcesFit"] {
				asked = asked || e.Hint != ""
			}
			if want := release >= "v1.30"; wakes != want {
				t.Errorf("VolumeRestrictions registered for taints: %v", wakes)
			}
			if want := release >= "v1.32"; asked != want {
				t.Errorf("a hint of NodeResourcesFit is asked: %v", asked)
			}
		})
	}
	if table, err := In(newest); table != nil || err != nil || newest != queue.Releases()[0] {
		t.Errorf("%s, which is built in, does not tell itself: %v, %v", newest, table, err)
	}
}

// TestDamagedTable: a table that can't be read says where.
func TestDamagedTable(t *testing.T) {
	if _, err := parse("NodeName Node Add|Upgrade -\n"); err == nil || !strings.Contains(err.Error(), `line 1: there is no action "Upgrade"`) {
		t.Error(err)
	}
	if _, err := parse("# a release\nNodeName Node Add -\nNodeName Node\n"); err == nil || !strings.Contains(err.Error(), "line 3 has 2 words") {
		t.Error(err)
	}
}

// TestByTable: without hint functions, each event wakes that a plugin registered for, in that release, and gates hold a pod.
func TestByTable(t *testing.T) {
	taint := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeTaint}
	for release, want := range map[string]fwk.QueueingHint{"v1.36": fwk.Queue, "": fwk.QueueSkip, newest: fwk.QueueSkip} {
		p, err := ByTable(release, "default-scheduler", "another")
		if err != nil {
			t.Fatal(err)
		}
		gated := &v1.Pod{Spec: v1.PodSpec{SchedulerName: "another", SchedulingGates: []v1.PodSchedulingGate{{Name: "wait"}}}}
		hint, err := p.Hint("NodePorts", gated, taint, &v1.Node{}, &v1.Node{})
		if err != nil || hint != want || p.Registered("NodePorts", taint) != (want == fwk.Queue) {
			t.Errorf("in %q, a change of taints helps a pod that NodePorts rejected: %v, %v", release, hint, err)
		}
		if !p.Interested(taint) || p.PreEnqueue(gated, "") != queue.SchedulingGates || p.PreEnqueue(&v1.Pod{}, "") != "" {
			t.Errorf("in %q, nobody cares for taints, or for gates", release)
		}
	}
}
