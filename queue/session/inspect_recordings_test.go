package session

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/files"
)

// TestInspectRecordings runs the attempts again that bound pods in recordings of real clusters, and compares the winners with
// the nodes that the real scheduler chose.
func TestInspectRecordings(t *testing.T) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if root == "" {
		t.Skip("SCHEDQ_RECORDINGS names no folder of recordings")
	}
	logs, err := filepath.Glob(filepath.Join(root, "*", "audit.log.gz"))
	if err != nil || len(logs) == 0 {
		t.Skipf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	for _, log := range logs {
		dir := filepath.Dir(log)
		for _, with := range []string{"", "sched.log.gz"} {
			t.Run(filepath.Base(dir)+"/"+with, func(t *testing.T) {
				inspectRecording(t, dir, with)
			})
		}
	}
}

func inspectRecording(t *testing.T, dir, with string) {
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
	began := time.Now()
	o.show(o.recording.End)
	played := time.Since(began)
	var bound []*board.Transition
	unknown := 0
	for _, m := range o.recording.MovesFrom(0) {
		if m.To != queue.Scheduled || m.Pod.Node == "" {
			continue
		}
		if popped, _ := timeline.AttemptOf(m.Pod); popped != nil {
			bound = append(bound, m)
		} else {
			unknown++
		}
	}
	const most = 100
	count := map[string]int{}
	n := 0
	var spent time.Duration
	var examples []string
	for k := range bound {
		if len(bound) > most && k*most/len(bound) == (k-1)*most/len(bound) && k > 0 {
			continue
		}
		m := bound[k]
		popped, _ := timeline.AttemptOf(m.Pod)
		began := time.Now()
		c, err := o.cycleAgain(popped, m, InspectOptions{})
		spent += time.Since(began)
		n++
		if err != nil {
			count[err.Error()]++
			continue
		}
		if c.Filter.StartInferred {
			count["(start)"]++
		}
		if !c.Time.Equal(popped.Time) {
			count["(late)"]++
		}
		match := c.Actual.Match
		if c.Score.Skipped != "" && match == explain.Equal {
			match = "only"
		}
		if c.Node == "" {
			match = "fits nowhere"
		}
		count[match]++
		if c.Actual.Match == explain.Different && len(examples) < 400 {
			actual, _ := c.Find(c.Actual.Node)
			winner, _ := c.Find(c.Node)
			examples = append(examples, fmt.Sprintf("%s %s: chose %q, real %s %s: %s %v | %d of %d | %s", popped.Time.Format("15:04:05.000"), popped.Pod.Key, c.Node, c.Actual.Node, actual.Outcome, c.Lost(winner, actual), actual.Rejections, c.Filter.Feasible, c.Filter.Nodes, c.Message))
		}
	}
	var parts []string
	for k, v := range count {
		parts = append(parts, fmt.Sprintf("%s %d", k, v))
	}
	sort.Strings(parts)
	t.Logf("%d bound, %d without attempt, %d inspected in %s each (played %s): %s", len(bound), unknown, n, spent/time.Duration(max(1, n)), played, strings.Join(parts, ", "))
	for _, e := range examples[:min(6, len(examples))] {
		t.Log(e)
	}
}
