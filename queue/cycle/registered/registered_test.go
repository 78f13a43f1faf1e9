package registered

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestTables parses all tables and compares plugins that changed with the releases' source.
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
				t.Errorf("VolumeRestrictions registered for taints: %t, want %t", wakes, want)
			}
			if want := release >= "v1.32"; asked != want {
				t.Errorf("NodeResourcesFit has a hint function: %t, want %t", asked, want)
			}
		})
	}
	if table, err := In(queue.Releases()[0]); table != nil || err != nil {
		t.Errorf("the built-in release has a table: %v, %v", table, err)
	}
}

// TestDamagedTable checks that errors name the line.
func TestDamagedTable(t *testing.T) {
	if _, err := parse("NodeName Node Add|Upgrade -\n"); err == nil || !strings.Contains(err.Error(), `line 1: unknown action "Upgrade"`) {
		t.Error(err)
	}
	if _, err := parse("# a release\nNodeName Node Add -\nNodeName Node\n"); err == nil || !strings.Contains(err.Error(), "line 3 has 2 words") {
		t.Error(err)
	}
}
