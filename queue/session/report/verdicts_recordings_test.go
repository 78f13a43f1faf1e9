package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/files"
)

// TestVerdictsOfRecordings: on real control planes without a fault, the second opinion says nothing of any pod but what is true.
func TestVerdictsOfRecordings(t *testing.T) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if root == "" {
		t.Skip("SCHEDQ_RECORDINGS names no folder of recordings")
	}
	dirs, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil || len(dirs) == 0 {
		t.Skipf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	for _, dir := range dirs {
		for _, names := range [][]string{{"audit.log.gz"}, {"sched.log.gz"}, {"audit.log.gz", "sched.log.gz"}} {
			t.Run(filepath.Base(dir)+" "+strings.Join(names, " "), func(t *testing.T) {
				var paths []string
				for _, name := range names {
					if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
						t.Skip(err)
					}
					paths = append(paths, filepath.Join(dir, name))
				}
				rec, err := files.Open(t.Context(), paths, files.Options{})
				if err != nil {
					t.Fatal(err)
				}
				r, err := report.Summarize(t.Context(), rec, timeline.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range r.Verdicts {
					t.Logf("%s %s %s %t %s", v.At.Format("15:04:05"), v.Pod, v.Code, v.Certain, v.Sentence)
					for _, seen := range v.Evidence {
						t.Logf("    %s %s", seen.Time.Format("15:04:05.000"), seen.Text)
					}
					if v.Code != opinion.Held {
						t.Errorf("%s is %s", v.Pod, v.Code)
					}
				}
			})
		}
	}
}
