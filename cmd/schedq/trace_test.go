package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources/embedded"
)

// TestTraceIsItsLogs: a trace and the logs it was converted from yield the same report apart from
// names, also if the last lines of a log contain no event, with and without the scheduler's end.
// SCHEDQ_RECORDINGS adds recordings of real clusters.
func TestTraceIsItsLogs(t *testing.T) {
	const moved = `I1121 10:00:01.000000       1 backoff_queue.go:324] "Entity moved to an internal scheduling queue" type="pod" entity="default/web" event="UnscheduledPodAdd" queue="Active"
I1121 10:00:01.500000       1 schedule_one.go:90] "About to try and schedule pod" pod="default/web"
I1121 10:00:01.600000       1 schedule_one.go:1194] "Unable to schedule pod; no fit; waiting" pod="default/web" err="0/1 nodes are available: 1 Insufficient cpu."
I1121 10:00:01.700000       1 scheduling_queue.go:900] "Entity moved to an internal scheduling queue" type="pod" entity="default/web" event="ScheduleAttemptFailure" queue="Unschedulable" schedulingCycle=1 hint="QueueSkip" unschedulable plugins="map[NodeResourcesFit:{}]"
`
	const last = `E1121 10:00:07.000000       1 run.go:72] "command failed" err="finished without leader elect"
`
	const idle = `I1121 10:00:12.000000       1 request.go:685] "Waited before sending request" delay="1s"
`
	write := writer(t)
	sources := map[string][]string{
		"a log":                       {write("running.log", moved+idle)},
		"a log that ends":             {write("ended.log", moved+last+idle)},
		"a log of a new scheduler":    {write("again.log", moved+last+strings.ReplaceAll(moved, "10:00:01", "10:00:11")+idle)},
		"two logs, one after another": {write("one.log", moved+last), write("two.log", strings.ReplaceAll(moved, "10:00:01", "10:00:21")+strings.ReplaceAll(idle, "10:00:12", "10:00:29"))},
	}
	for _, info := range embedded.All() {
		sources[info.Name] = []string{filepath.Join("..", "..", "sources", "embedded", info.Name+".jsonl.zst")}
	}
	folders, err := filepath.Glob(filepath.Join(os.Getenv("SCHEDQ_RECORDINGS"), "*", "sched.log.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("SCHEDQ_RECORDINGS") == "" || testing.Short() {
		folders = nil
	}
	for _, log := range folders {
		audit := filepath.Join(filepath.Dir(log), "audit.log.gz")
		name := filepath.Base(filepath.Dir(log))
		sources[name], sources[name+", audit log"], sources[name+", scheduler log"] = []string{audit, log}, []string{audit}, []string{log}
	}
	report := func(t *testing.T, args ...string) map[string]any {
		code, out, stderr := schedq(t, "", append([]string{"report", "-o", "json"}, args...)...)
		var r map[string]any
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
			t.Fatalf("exit %d, %v: %s", code, err, stderr)
		}
		delete(r, "source")
		return r
	}
	for name, args := range sources {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.HasPrefix(name, "lively") {
				t.Skip("slow")
			}
			trace := filepath.Join(t.TempDir(), "trace.jsonl.zst")
			if code, _, stderr := schedq(t, "", append([]string{"convert", "-o", trace}, args...)...); code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if logs, converted := report(t, args...), report(t, trace, "--memory", "8Gi"); !reflect.DeepEqual(logs, converted) {
				t.Errorf("the logs' report is\n%v\nand the trace's\n%v", logs, converted)
			}
		})
	}
}
