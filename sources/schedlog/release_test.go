package schedlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources"
)

// TestWordingOfReleases: the place of a line in the source narrows the release of a log that does not state it, and lines of a release
// that is newer than those known are read as far as they go.
func TestWordingOfReleases(t *testing.T) {
	const (
		start  = `I1121 12:00:00.000000       1 server.go:165] "Starting Kubernetes Scheduler" version="%s"` + "\n"
		unable = `I1121 12:00:01.000000       1 %s:1] "Unable to schedule pod; no fit; waiting" pod="mill/saw-0" err="0/3 nodes are available: 3 Insufficient cpu."` + "\n"
		group  = `I1121 12:00:02.000000       1 scheduling_queue.go:1] "Pod group moved to an internal scheduling queue" rootType="podgroup" root="mill/gang" event="PodGroupAdd" queue="Active"` + "\n"
		entity = `I1121 12:00:03.000000       1 scheduling_queue.go:1] "Entity moved to an internal scheduling queue" type="pod" entity="mill/saw-0" event="NodeAdd" queue="Active"` + "\n"
	)
	for name, c := range map[string]struct{ log, want string }{
		"v1.23 or before":      {fmt.Sprintf(unable, "factory.go"), "v1.23 true"},
		"v1.24 or later":       {fmt.Sprintf(unable, "schedule_one.go"), ""},
		"it states it":         {fmt.Sprintf(start+unable, "v1.22.4", "factory.go"), "v1.22.4 false"},
		"newer than any known": {fmt.Sprintf(start+unable, "v1.38.0", "schedule_one.go") + group + entity, "v1.38.0 false; moved active"},
	} {
		t.Run(name, func(t *testing.T) {
			part, err := read(t, c.log, nov)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, ev := range part.Events {
				switch f := ev.Fact.(type) {
				case *sources.SchedulerStarted:
					got = append(got, fmt.Sprintf("%s %t", f.Release, f.ReleaseInferred))
				case *sources.SchedulerRunning:
					got = append(got, fmt.Sprintf("%s %t", f.Release, f.ReleaseInferred))
				case *sources.Move:
					got = append(got, fmt.Sprintf("moved %s", f.To))
				}
			}
			if all := strings.Join(got, "; "); all != c.want {
				t.Errorf("it tells %q, want %q", all, c.want)
			}
		})
	}
}
