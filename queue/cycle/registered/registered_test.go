package registered

import (
	"strings"
	"testing"

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
	if table, err := In("v1.37"); table != nil || err != nil {
		t.Errorf("the release that is built in has a table: %v, %v", table, err)
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
