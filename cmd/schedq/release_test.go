package main

import (
	"strings"
	"testing"
)

// TestReleases: --scheduler-release sets the release of the recorded scheduler, and --release
// another one to rerun under.
func TestReleases(t *testing.T) {
	story := writer(t)("story.yaml", "schedq: scenario\nversion: 1\nname: s\nrelease: v1.31\nend: 10s\n---\napiVersion: v1\nkind: Node\nmetadata: {name: node-a}\nstatus: {allocatable: {cpu: \"2\"}}\n")
	const given = "The scheduler is kube-scheduler v1.31.4: you said so."
	for _, c := range []struct {
		args             string
		code             int
		stderr, noStderr string
		stdout           string
	}{
		{args: "watch FILE --scheduler-release v1.31.4", stderr: given, stdout: "PodAdd"},
		{args: "watch FILE --scheduler-release 1.31.4", stderr: given},
		{args: "report --recording workshop --scheduler-release v1.31.4", stdout: "kube-scheduler v1.31.4 (you said so)"},
		{args: "report FILE --scheduler-release v1.40", stderr: "kube-scheduler v1.40 is newer than schedq knows: v1.37's rules are assumed.", stdout: "v1.37's rules are assumed"},
		{args: "report FILE --release v1.31", noStderr: "you said so", stdout: "under v1.31"},
		{args: "report FILE --scheduler-release yes", code: 2, stderr: "invalid --scheduler-release yes: use a kube-scheduler release such as v1.31 or v1.31.4"},
		{args: "report STORY --scheduler-release v1.31", code: 2, stderr: "is a scenario: use --release to play it under another release"},
		{args: "report STORY --release v1.24", stdout: "0 moves"},
		{args: "verify FILE --truth FILE", stdout: "precision 100.0 %"},
		{args: "verify FILE --truth FILE --scheduler-release v1.31", stderr: "you said so", stdout: "precision 100.0 %"},
		{args: "verify FILE --truth FILE --release v1.31", stdout: "unschedulable  ScheduleAttemptFailure"},
		{args: "rerun FILE --release v1.24", stdout: "moves under v1.37, "},
		{args: "rerun FILE --release v1.24 --scheduler-release v1.31.4", stderr: given, stdout: "moves under v1.31, "},
		{args: "rerun FILE --release v1.24 --against v1.19 --scheduler-release v1.31.4", stdout: "moves under v1.19, "},
		{args: "convert FILE -o - --scheduler-release v1.31.4", stdout: `"heard":{"release":"v1.31.4","from":"given"}`},
		{args: "watch --release v1.31", code: 2, stderr: "--release reruns a recording: use --scheduler-release v1.31"},
		{args: "report --release v1.31", code: 2, stderr: "use --scheduler-release v1.31"},
		{args: "attach --release v1.31", code: 2, stderr: "use --scheduler-release v1.31"},
	} {
		args := strings.Fields(strings.NewReplacer("FILE", workshop, "STORY", story).Replace(c.args))
		code, out, stderr := schedq(t, "", args...)
		if code != c.code || !strings.Contains(stderr, c.stderr) || c.noStderr != "" && strings.Contains(stderr, c.noStderr) || !strings.Contains(out, c.stdout) {
			t.Errorf("%s: exit %d, %q, %.300q", c.args, code, stderr, out)
		}
	}
	if _, again, _ := schedq(t, "", "verify", workshop, "--truth", workshop, "--release", "v1.24"); strings.Contains(again, "recall 100.0 %") {
		t.Errorf("the rerun equals the recording: %.200s", again)
	}
}
