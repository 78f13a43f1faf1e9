package schedlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources"
)

// TestLastWords: the log says that kube-scheduler shuts down, and no scheduler works from then on.
func TestLastWords(t *testing.T) {
	failed := `I1121 10:00:01.000000       1 schedule_one.go:1194] "Unable to schedule pod; no fit; waiting" pod="default/web" err="0/1 nodes are available: 1 Insufficient cpu."` + "\n"
	moved := `I1121 10:00:01.000000       1 backoff_queue.go:324] "Entity moved to an internal scheduling queue" type="pod" entity="default/web" event="UnscheduledPodAdd" queue="Active"` + "\n"
	line := func(severity, text string) string {
		return fmt.Sprintf("%s1121 10:00:02.500000       1 server.go:1] %s\n", severity, text)
	}
	elsewhere := func(text string) string { return strings.ReplaceAll(text, " server.go:", " controllermanager.go:") }
	for _, c := range []struct {
		name, log string
		want      int
	}{
		{"it ends without a lease", failed + line("E", `"command failed" err="finished without leader elect"`), 1},
		{"it is asked to end", failed + line("I", `"Requested to terminate, exiting"`), 1},
		{"it has lost its lease", failed + line("E", `"Leaderelection lost"`), 1},
		{"it has lost its lease and returns", failed + line("E", `"command failed" err="lost lease"`), 1},
		{"v1.21 is asked to end", failed + line("I", `Requested to terminate. Exiting.`), 1},
		{"v1.21 has lost its lease", failed + line("F", `leaderelection lost`) + "goroutine 1 [running]:\n", 1},
		{"v1.13 has lost its lease", failed + line("E", `lost master`), 1},
		{"the controller manager in the same log has lost its lease", failed + elsewhere(line("F", `leaderelection lost`)), 0},
		{"a message only begins like it", failed + line("I", `leaderelection lost and found`), 0},
		{"a standby of v1.21", line("F", `leaderelection lost`) + failed, 0},
		{"another command fails", failed + line("E", `"command failed" err="no such file"`), 0},
		{"its log ends", failed, 0},
		{"its log tells all moves", moved + line("E", `"command failed" err="finished without leader elect"`), 1},
		{"it was a standby", line("I", `"Starting Kubernetes Scheduler" version="v1.37.1"`) + line("E", `"Leaderelection lost"`), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			part, err := read(t, c.log, nov)
			if err != nil {
				t.Fatal(err)
			}
			var since []string
			for _, ev := range part.Events {
				if f, is := ev.Fact.(*sources.Silent); is {
					since = append(since, f.Since.Format("05.0"))
					if !f.Since.Equal(ev.Time) || f.Profile != "" || !f.Ended {
						t.Errorf("at %v it is silent since %v, profile %q, ended %t", ev.Time, f.Since, f.Profile, f.Ended)
					}
				}
			}
			if got, want := strings.Join(since, " "), strings.TrimSpace(strings.Repeat("02.5 ", c.want)); got != want {
				t.Errorf("silent since %q, want %q", got, want)
			}
		})
	}
}
