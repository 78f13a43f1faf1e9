package session

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/docs/doctable"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/files"
)

var update = flag.Bool("update", false, "write the measured figures into docs/development/accuracy.md")

// TestInspectRecordings runs attempts again that bound pods in recordings of real clusters, from the audit log alone and with the
// scheduler's log. The winner is the node that the scheduler chose, or has the same score, in 97 % of all.
func TestInspectRecordings(t *testing.T) {
	if os.Getenv("SCHEDQ_VERIFY") == "" {
		t.Skip("make verify runs this")
	}
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if root == "" {
		t.Skip("SCHEDQ_RECORDINGS names no folder of recordings")
	}
	logs, err := filepath.Glob(filepath.Join(root, "*", "audit.log.gz"))
	if err != nil || len(logs) == 0 {
		t.Skipf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	var rows [][]string
	all := map[string]int{}
	for _, log := range logs {
		row := []string{filepath.Base(filepath.Dir(log))}
		for _, with := range []string{"", "sched.log.gz"} {
			counts := inspectRecording(t, filepath.Dir(log), with)
			t.Logf("%s with %q: %v", row[0], with, counts)
			row = append(row, fmt.Sprintf("%d / %d / %d / %d", counts[explain.Equal], counts[explain.Tie], counts[explain.Different], counts["start"]+counts["moment"]))
			for k, n := range counts {
				all[k] += n
			}
		}
		rows = append(rows, row)
	}
	right, attempts := all[explain.Equal]+all[explain.Tie], all[explain.Equal]+all[explain.Tie]+all[explain.Different]
	if t.Logf("%d of %d attempts", right, attempts); float64(right) < 0.97*float64(attempts) {
		t.Errorf("%d of %d attempts have the scheduler's node or a tie with it", right, attempts)
	}
	doctable.Check(t, "../../docs/development/accuracy.md", "inspect", doctable.Table{Header: []string{"recording", "audit log", "with `sched.log`"}, Rows: rows}, *update)
}

// inspectRecording inspects attempts of a recording and counts the results.
func inspectRecording(t *testing.T, dir, with string) map[string]int {
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
		counts[c.Actual.Match]++
		if c.Filter.StartInferred {
			counts["start"]++
		}
		if !c.Time.Equal(popped.Time) {
			counts["moment"]++
		}
	}
	return counts
}
