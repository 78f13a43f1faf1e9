package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/files"
)

// TestInspectRecordings runs attempts again that bound pods in recordings of real clusters, from the audit log alone and with the
// scheduler's log. The winner is the node that the scheduler chose, or has the same score, in 97 % of all.
func TestInspectRecordings(t *testing.T) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if root == "" {
		t.Skip("SCHEDQ_RECORDINGS names no folder of recordings")
	}
	logs, err := filepath.Glob(filepath.Join(root, "*", "audit.log.gz"))
	if err != nil || len(logs) == 0 {
		t.Skipf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	for _, with := range []string{"", "sched.log.gz"} {
		t.Run("with "+with, func(t *testing.T) {
			all := map[string]int{}
			for _, log := range logs {
				inspectRecording(t, filepath.Dir(log), with, all)
			}
			right := all["equal"] + all["the only one"] + all["tie"]
			if t.Logf("%d of %d: %v", right, all["attempts"], all); float64(right) < 0.97*float64(all["attempts"]) {
				t.Errorf("%d of %d attempts", right, all["attempts"])
			}
		})
	}
}

// inspectRecording inspects attempts of a recording and adds how many have which result to all.
func inspectRecording(t *testing.T, dir, with string, all map[string]int) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Queue.PopFromBackoffQ = !strings.HasSuffix(dir, "-nopop")
	paths := []string{filepath.Join(dir, "audit.log.gz")}
	if with != "" {
		paths = append(paths, filepath.Join(dir, with))
	}
	rec, err := files.Open(t.Context(), paths, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := newOwner(rec, timeline.Options{Scheduler: cfg, Paused: true})
	defer o.close()
	o.show(o.recording.End)
	var bound []*board.Transition
	for _, m := range o.recording.MovesFrom(0) {
		if popped, _ := timeline.AttemptOf(m.Pod); m.To == queue.Scheduled && m.Pod.Node != "" && popped != nil {
			bound = append(bound, m)
		}
	}
	const most = 100
	counts := map[string]int{}
	for i := range min(most, len(bound)) {
		m := bound[i*len(bound)/min(most, len(bound))]
		popped, _ := timeline.AttemptOf(m.Pod)
		c, err := o.cycleAgain(popped, m, InspectOptions{})
		if err != nil {
			t.Errorf("%s: %v", popped.Pod.Key, err)
			continue
		}
		match := c.Actual.Match
		if match == explain.Equal && c.Filter.Feasible == 1 {
			match = "the only one"
		}
		counts["attempts"]++
		counts[match]++
		if c.Filter.StartInferred {
			counts["start of the search inferred"]++
		}
		if !c.Time.Equal(popped.Time) {
			counts["objects of another moment"]++
		}
	}
	t.Logf("%s: %v", filepath.Base(dir), counts)
	for k, n := range counts {
		all[k] += n
	}
}
