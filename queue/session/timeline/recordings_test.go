package timeline_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/files"
)

// step is a move in a recording's truth.jsonl.
type step struct{ To, Event string }

// TestRecordings replays recordings of real clusters and compares each pod's moves with truth.jsonl, which was made from the
// scheduler's log: same tiers and events in the same order. SCHEDQ_RECORDINGS is a folder of recordings, each a folder with
// audit.log.gz, sched.log.gz and truth.jsonl.gz.
func TestRecordings(t *testing.T) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if root == "" {
		t.Skip("SCHEDQ_RECORDINGS is not set")
	}
	dirs, err := filepath.Glob(filepath.Join(root, "*", "truth.jsonl.gz"))
	if err != nil || len(dirs) == 0 {
		t.Skipf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	for _, truthFile := range dirs {
		dir := filepath.Dir(truthFile)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := readTruth(t, truthFile)
			began := time.Now()
			rec, err := files.Open(context.Background(), []string{filepath.Join(dir, "audit.log.gz"), filepath.Join(dir, "sched.log.gz")}, files.Options{})
			if err != nil {
				t.Fatal(err)
			}
			read := time.Since(began)
			got := map[string][]step{}
			n := 0
			err = timeline.Replay(t.Context(), rec, timeline.Options{}, func(tr *board.Transition) error {
				pod := tr.Pod.Key.String()
				got[pod] = append(got[pod], step{tr.To.String(), tr.Event})
				n++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d moves, read in %s, replayed in %s", n, read.Round(time.Millisecond), (time.Since(began) - read).Round(time.Millisecond))
			compareSteps(t, got, want)
		})
	}
}

func compareSteps(t *testing.T, got, want map[string][]step) {
	differing := 0
	for pod := range got {
		if want[pod] == nil {
			want[pod] = nil
		}
	}
	for pod, w := range want {
		g := got[pod]
		w = endedOnce(w)
		bound := false
		for i := range max(len(g), len(w)) {
			if i < len(g) && i < len(w) && (g[i] == w[i] || bound && g[i].To == queue.Scheduled.String() && w[i].To == queue.Deleted.String()) {
				bound = bound || g[i].To == queue.Scheduled.String() // a late update may have added it again
				continue
			}
			if differing++; differing <= 3 {
				t.Errorf("%s differs from its move %d on:\n got  %v\n want %v", pod, i, g[i:min(len(g), i+4)], w[i:min(len(w), i+4)])
			}
			break
		}
	}
	if differing > 0 {
		t.Errorf("%d of %d pods differ", differing, len(want))
	}
}

// endedOnce removes the delete handler's lines about bound pods, which are logged before or after the binding.
func endedOnce(truth []step) []step {
	deleted, scheduled := queue.Deleted.String(), queue.Scheduled.String()
	var once []step
	for i, s := range truth {
		before := i > 0 && truth[i-1].To == scheduled
		after := i+1 < len(truth) && truth[i+1].To == scheduled
		if s.To != deleted || !before && !after {
			once = append(once, s)
		}
	}
	return once
}

func readTruth(t *testing.T, path string) map[string][]step {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	truth := map[string][]step{}
	for d := json.NewDecoder(z); ; {
		var line struct{ Pod, To, Event string }
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			return truth
		} else if err != nil {
			t.Fatal(err)
		}
		truth[line.Pod] = append(truth[line.Pod], step{line.To, line.Event})
	}
}
