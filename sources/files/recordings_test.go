package files

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// TestRecordings reads every recording whole. SCHEDQ_RECORDINGS is the folder of the recordings.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("SCHEDQ_RECORDINGS")
	if dir == "" {
		t.Skip("SCHEDQ_RECORDINGS is not set")
	}
	recordings, err := filepath.Glob(filepath.Join(dir, "*", "audit.log.gz"))
	if err != nil || len(recordings) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	for _, path := range recordings {
		at := filepath.Dir(path)
		t.Run(filepath.Base(at), func(t *testing.T) {
			start := time.Now()
			paths := []string{path, filepath.Join(at, "sched.log.gz")}
			for _, more := range []string{"metrics.jsonl.gz", "driver.log"} { // not every one has them
				if info, err := os.Stat(filepath.Join(at, more)); err == nil && info.Size() > 0 {
					paths = append(paths, filepath.Join(at, more))
				}
			}
			rec, err := Open(context.Background(), paths, Options{})
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			counts := map[string]int{}
			for i, e := range rec.Events {
				if i > 0 && e.Time.Before(rec.Events[i-1].Time) {
					t.Fatalf("event %d goes back in time", i)
				}
				switch f := e.Fact.(type) {
				case *sources.ObjectChange:
					counts[string(f.Verb)+" "+f.Object.GetObjectKind().GroupVersionKind().Kind]++
				case *sources.Move:
					counts["moves"]++
				case *sources.Counts:
					counts["counts"]++
				case *sources.Mark:
					counts["marks"]++
				case *sources.SchedulerStarted:
					t.Logf("%v %+v", e.Time, f)
				}
			}
			t.Logf("%d events in %v: %v; notices %q", len(rec.Events), took, counts, rec.Notices)
		})
	}
}
