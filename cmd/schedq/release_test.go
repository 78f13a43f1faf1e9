package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleases: --scheduler-release says of which release the scheduler was, --release asks for another, and no command
// takes one for the other.
func TestReleases(t *testing.T) {
	recording := filepath.Join("..", "..", "sources", "embedded", "workshop.jsonl.zst")
	story := filepath.Join(t.TempDir(), "story.yaml")
	if err := os.WriteFile(story, []byte("schedq: scenario\nversion: 1\nname: s\nrelease: v1.31\nend: 10s\n---\napiVersion: v1\nkind: Node\nmetadata: {name: node-a}\nstatus: {allocatable: {cpu: \"2\"}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const had = "The scheduler is kube-scheduler v1.31.4: you said so."
	for _, c := range []struct {
		args           string
		code           int
		says, saysNone string // on standard error
		writes         string
	}{
		{args: "watch FILE --scheduler-release v1.31.4", says: had, writes: "PodAdd"},
		{args: "watch FILE --scheduler-release 1.31.4", says: had},
		{args: "report --recording workshop --scheduler-release v1.31.4", writes: "kube-scheduler v1.31.4 (you said so)"},
		{args: "report FILE --scheduler-release v1.40", says: "The scheduler is v1.40, whose rules are not known here: those of v1.37 are taken."},
		{args: "report FILE --release v1.31", saysNone: "you said so", writes: "under v1.31"},
		{args: "report FILE --scheduler-release yes", code: 2, says: "--scheduler-release yes is no release of kube-scheduler, such as v1.31 or v1.31.4"},
		{args: "report STORY --scheduler-release v1.31", code: 2, says: "is a scenario: --release plays it under another release"},
		{args: "report STORY --release v1.24", writes: "0 moves"},
		{args: "verify FILE --truth FILE", writes: "precision 100.0 %"},
		{args: "verify FILE --truth FILE --scheduler-release v1.31", says: "you said so", writes: "precision 100.0 %"},
		{args: "verify FILE --truth FILE --release v1.31", writes: "unschedulable  ScheduleAttemptFailure"},
		{args: "rerun FILE --release v1.24", writes: "run again under v1.37 and under v1.24"},
		{args: "rerun FILE --release v1.24 --scheduler-release v1.31.4", says: had, writes: "run again under v1.31 and under v1.24"},
		{args: "rerun FILE --release v1.24 --against v1.19 --scheduler-release v1.31.4", writes: "run again under v1.19 and under v1.24"},
		{args: "convert FILE -o - --scheduler-release v1.31.4", writes: `"heard":{"release":"v1.31.4","from":"given"}`},
		{args: "watch --release v1.31", code: 2, says: "--release runs a recording again: --scheduler-release v1.31 says of which release a cluster's scheduler is"},
		{args: "report --release v1.31", code: 2, says: "--scheduler-release v1.31 says"},
		{args: "attach --release v1.31", code: 2, says: "--scheduler-release v1.31 says"},
	} {
		args := strings.Fields(strings.NewReplacer("FILE", recording, "STORY", story).Replace(c.args))
		code, out, stderr := schedq(t, "", args...)
		if code != c.code || !strings.Contains(stderr, c.says) || c.saysNone != "" && strings.Contains(stderr, c.saysNone) || !strings.Contains(out, c.writes) {
			t.Errorf("%s: exit %d, says %q, writes %.300q", c.args, code, stderr, out)
		}
	}
	if _, again, _ := schedq(t, "", "verify", recording, "--truth", recording, "--release", "v1.24"); strings.Contains(again, "recall 100.0 %") {
		t.Errorf("what is run again is the same as what was recorded: %.200s", again)
	}
}
