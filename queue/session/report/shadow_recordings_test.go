package report_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/files"
)

// TestShadowRecordings replays the audit logs of real clusters without the scheduler's log, and compares
// with it. It takes minutes: "make verify" runs it. Moves are a diagnostic: TestAnswers has the goals.
func TestShadowRecordings(t *testing.T) {
	if os.Getenv("SCHEDQ_VERIFY") == "" {
		t.Skip("make verify runs this")
	}
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if root == "" {
		t.Skip("SCHEDQ_RECORDINGS names no folder of recordings")
	}
	logs, err := filepath.Glob(filepath.Join(root, "*", "sched.log.gz"))
	if err != nil || len(logs) == 0 {
		t.Skipf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	var rows [][]string
	for _, log := range logs {
		dir := filepath.Dir(log)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			if name == "busy" && testing.Short() {
				t.Skip("it takes half a minute")
			}
			v := verify(t, dir, log)
			rows = append(rows, []string{name, strconv.Itoa(v.Transitions.Truth), cell(v)})
			for _, d := range v.Differences[:min(len(v.Differences), 3)] {
				t.Logf("%s %s %s → %s %s", d.Time.Format("15:04:05.000"), d.Kind, d.Pod, d.To, d.Event)
			}
		})
	}
	checkTable(t, byLogs, []string{"recording", "moves", "audit log"}, rows)
}

// verify compares the audit log in dir, and the files beside, with the scheduler's log. The model uses the
// scheduler's feature gates, which an audit log does not contain.
func verify(t *testing.T, dir, log string, beside ...string) *report.Verification {
	t.Helper()
	return verifyFiles(t, append([]string{filepath.Join(dir, "audit.log.gz")}, beside...), nil, log)
}

// verifyFiles compares files and seeds with the scheduler's log.
func verifyFiles(t *testing.T, paths, seeds []string, log string) *report.Verification {
	t.Helper()
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Queue.PopFromBackoffQ = !strings.HasSuffix(filepath.Dir(log), "-nopop")
	rec, err := files.Open(t.Context(), paths, files.Options{Seeds: seeds})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := files.Open(t.Context(), []string{log}, files.Options{Beside: rec})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	v, err := report.Verify(t.Context(), rec, truth, timeline.Options{Scheduler: cfg}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	m := v.Transitions
	figures := fmt.Sprintf("%d moves, %d of the model, %d the same: recall %.4f, precision %.4f; of %.0f s right %.4f",
		m.Truth, m.Model, m.Matched, m.Recall, m.Precision, time.Duration(v.PodSeconds.Total).Seconds(), v.PodSeconds.Share)
	for _, tier := range v.PodSeconds.Tiers {
		figures += fmt.Sprintf(", %s (%.1f s) %.4f", tier.Tier, time.Duration(tier.Truth).Seconds(), tier.Share)
	}
	t.Logf("answers %s; %s; verified in %s", answersCell(v.Answers), figures, time.Since(began).Round(100*time.Millisecond))
	return v
}
