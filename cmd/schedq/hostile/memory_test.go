package hostile

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordingsMemory: --memory limits every reader, measured as the peak memory of the process.
// The limit excludes the program itself with the embedded plugins, and garbage up to the size of
// the kept data.
func TestRecordingsMemory(t *testing.T) {
	path := program(t)
	const limit, own = 64, 130 // MiB
	const n = 60_000
	lines := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i, i%86400/3600, i/60%60, i%60)
		}
		return b.String()
	}
	const at = "2026-11-21T%02[2]d:%02[3]d:%02[4]d"
	object := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p%[1]d","namespace":"default","uid":"u%[1]d","resourceVersion":"1%06[1]d","creationTimestamp":"` + at + `Z"},"spec":{"schedulerName":"default-scheduler","containers":[{"name":"c"}]},"status":{"phase":"Pending"}}`
	const traced = `{"schedq":"trace","version":1}` + "\n"
	files := map[string]string{
		"audit":     lines(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"%[1]d","stage":"ResponseComplete","verb":"create","objectRef":{"resource":"pods","namespace":"default","name":"p%[1]d","apiVersion":"v1"},"responseStatus":{"code":201},"responseObject":` + object + `,"requestReceivedTimestamp":"` + at + `.000000Z","stageTimestamp":"` + at + `.000001Z"}` + "\n"),
		"schedlog":  lines(`I1121 %02[2]d:%02[3]d:%02[4]d.%06[1]d       1 schedule_one.go:117] "Attempting to schedule pod" pod="default/p%[1]d"` + "\n"),
		"wrapped":   lines(`{"timestamp":"` + at + `Z","log":"I1121 %02[2]d:%02[3]d:%02[4]d.%06[1]d       1 schedule_one.go:117] \"Attempting to schedule pod\" pod=\"default/p%[1]d\"\n"}` + "\n"),
		"trace":     traced + lines(`{"time":"`+at+`Z","verb":"added","object":`+object+"}\n"),
		"moves":     traced + lines(`{"time":"`+at+`Z","move":{"pod":"default/p%[1]d","to":"inflight"}}`+"\n"),
		"watched":   lines(`{"time":"` + at + `Z","event":"Add","resource":` + object + "}\n"),
		"metrics":   lines(`{"time":"` + at + `.%06[1]dZ","active":%[1]d,"backoff":0,"unschedulable":0,"gated":0}` + "\n"),
		"seed.json": `{"kind":"List","apiVersion":"v1","items":[` + strings.TrimSuffix(lines(object+","), ",") + "]}",
		"seed.yaml": "apiVersion: v1\nkind: List\nitems:\n" + lines("- "+object+"\n"),
	}
	for name, content := range files {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, name), []byte(content))
			args := []string{"watch", name, "--memory", fmt.Sprintf("%dMi", limit)}
			if strings.HasPrefix(name, "seed") {
				write(t, filepath.Join(dir, "log"), []byte(schedulerLog))
				args = []string{"watch", "log", "--seed", name, "--memory", fmt.Sprintf("%dMi", limit)}
			}
			o := run(t, path, dir, nil, maxMemory, args...)
			if o.memory > own+2*limit {
				t.Errorf("the peak is %d MiB: %v", o.memory, o)
			}
			if o.code == 1 && !strings.Contains(string(o.stderr), "raise --memory") || o.code > 1 {
				t.Errorf("%v", o)
			}
			t.Logf("%d MiB, exit %d", o.memory, o.code)
		})
	}
}
