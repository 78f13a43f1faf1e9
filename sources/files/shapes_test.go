package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources"
)

// TestShapes reads one small file of each format. testdata/README.md says where each is documented.
func TestShapes(t *testing.T) {
	want := map[string]string{
		"audit":     "[audit] from 2026-11-21 10:56:19 to 10:56:26: map[ObjectChange:7 Requested:3]",
		"schedlog":  "[schedlog] from 2026-11-21 10:56:16 to 10:56:22: map[Move:9 SchedulerStarted:1]",
		"metrics":   "[metrics] from 2026-11-21 10:56:19 to 10:56:22: map[Counts:4]",
		"marks":     "[marks] from 2026-11-21 10:56:19 to 10:56:30: map[Mark:4]",
		"trace":     "[trace] from 2026-11-21 10:56:13 to 10:56:16: map[ObjectChange:6 SchedulerStarted:1]",
		"scenario":  "[scenario] from 2026-01-05 10:00:00 to 10:00:35: map[ObjectChange:2 SchedulerStarted:1]",
		"simulator": "[watched] from 2026-11-21 10:00:10 to 10:00:20: map[Attached:1 ObjectChange:5]",
		"kwok":      "[kwok] from 2000-01-01 00:00:00 to 00:00:02: map[Attached:1 ObjectChange:3]",
		"k8shark":   "[k8shark] from 2026-07-22 21:18:55 to 21:19:19: map[Attached:1 ObjectChange:4]",
		"openb":     "[scenario] from 2023-01-01 00:00:00 to 00:15:30: map[ObjectChange:8 SchedulerStarted:1]",
		"simkube":   "[scenario] from 2026-06-12 16:41:08 to 16:42:20: map[ObjectChange:9 SchedulerStarted:1]",
	}
	folders, err := os.ReadDir("testdata") // with the seeds', the platforms' and README.md
	if err != nil || len(folders) != len(want)+3 {
		t.Fatal(err, folders)
	}
	nodes := []string{"testdata/seed/list.json"}
	for name, says := range want {
		t.Run(name, func(t *testing.T) {
			paths, err := filepath.Glob(filepath.Join("testdata", name, "*"))
			if err != nil || len(paths) == 0 {
				t.Fatal(err, paths)
			}
			opts := Options{}
			if name == "simkube" {
				opts.Seeds = nodes
			}
			rec, err := Open(t.Context(), paths, opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := gist(rec); got != says {
				t.Errorf("got\n%s\nwant\n%s", got, says)
			}
		})
	}
	for _, seed := range []string{"list.json", "documents.yaml"} {
		t.Run(seed, func(t *testing.T) {
			rec, err := Open(t.Context(), in(t, "audit.log", middle), Options{Seeds: []string{"testdata/seed/" + seed}})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(thereBefore(rec), " "); !strings.Contains(got, "node-a idle") || len(rec.Notices) > 0 {
				t.Errorf("before there were %s, and it says %q", got, rec.Notices)
			}
		})
	}
}

// gist sums up what a recording tells: its formats, its times and how many facts of each kind.
func gist(rec *sources.Recording) string {
	count := map[string]int{}
	for _, e := range rec.Events {
		count[strings.TrimPrefix(fmt.Sprintf("%T", e.Fact), "*sources.")]++
	}
	return fmt.Sprintf("%v from %s to %s: %v", rec.Formats, rec.Events[0].Time.UTC().Format("2006-01-02 15:04:05"), rec.End.UTC().Format("15:04:05"), count)
}
