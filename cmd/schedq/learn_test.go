package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/cmd/schedq/command"
	"github.com/schedq/schedq/lessons"
)

// TestLessonsAreListed: without a terminal the lessons can at least be listed, with how far one has come.
func TestLessonsAreListed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	kept, err := command.OpenProgress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Keep("comb", lessons.Standing{Done: true, Asked: 2, Right: 1}); err != nil {
		t.Fatal(err)
	}
	missed := []lessons.Missed{{Step: 2}, {Step: 99}, {Step: 1, Ask: 7}} // of a lesson that was another once
	if err := kept.Keep("one-two-four", lessons.Standing{Done: true, Asked: 4, Right: 3, Missed: missed}); err != nil {
		t.Fatal(err)
	}
	if err := kept.Keep("gates", lessons.Standing{Step: 2}); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := schedq(t, "", "learn", "--list")
	if code != 0 || !strings.Contains(out, "done, 1 of 2 answers right") || !strings.Contains(out, "step 3 of 6") || !strings.Contains(out, "\n  1   three-places         Pending is three places   ") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	const stands = `The scheduling queue, from its three places to an incident
2 of 21 lessons are done, and the others take about 69 minutes. 4 of 6 answers were right.

Answered wrongly, and how to try again:
  schedq learn 2 --step 3   After the third: How long is it now?
`
	if code, out, stderr := schedq(t, "", "learn", "--progress"); code != 0 || out != stands {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	hour := filepath.Join(t.TempDir(), "hour.yaml")
	const lessonsOfIt = "lessons:\n  - {lesson: gates, minutes: 20}\n  - {lesson: one-two-four, minutes: 40}\n"
	if err := os.WriteFile(hour, []byte("schedq: course\nversion: 1\ntitle: An hour\n"+lessonsOfIt), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := schedq(t, "", "learn", "--course", hour, "--progress"); code != 0 ||
		!strings.HasPrefix(out, "An hour\n1 of 2 lessons are done, and the others take about 20 minutes. 3 of 4") || !strings.Contains(out, "--course "+hour+" 2 --step 3") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	fresh := filepath.Join(t.TempDir(), "fresh.yaml")
	if err := os.WriteFile(fresh, []byte("schedq: course\nversion: 1\ntitle: New\nlessons:\n  - {lesson: crowd, minutes: 5}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := schedq(t, "", "learn", "--course", fresh, "--progress"); code != 0 || out != "New\n0 of 1 lessons are done, and the others take about 5 minutes.\n" {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if code, out, stderr := schedq(t, "", "learn", "lint", hour); code != 0 || !strings.Contains(out, `"An hour" is right: 2 lessons, 60 minutes`) {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"learn --course " + hour + " 3", 2, `there is no lesson "3"; there are 2, by number or name: gates, one-two-four`},
		{"learn --course nowhere.yaml", 1, "nowhere.yaml: no such file"},
		{"learn 99", 2, `there is no lesson "99"; there are 21, by number or name: three-places`},
		{"learn comb", 1, "standard output is not a terminal"},
		{"learn nowhere.yaml", 1, "nowhere.yaml: no such file"},
		{"learn lint", 2, "learn lint needs FILE..."},
		{"learn new Not-A-Name.yaml", 2, "is not a Kubernetes object name"},
		{"play -o mine.txt", 2, "it ends in .yaml"},
		{"play --release v0.1", 2, "unknown release"},
	} {
		if code, _, stderr := schedq(t, "", strings.Fields(c.args)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("schedq %s: exit %d, %s, want %d and %s", c.args, code, stderr, c.code, c.want)
		}
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("XDG_STATE_HOME"), "schedq", "lessons.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := schedq(t, "", "learn", "--list"); code != 1 || !strings.Contains(stderr, "is damaged") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestLessonsAreWritten: a new lesson is right, is not overwritten, and its mistakes are found with their lines.
func TestLessonsAreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if code, _, stderr := schedq(t, "", "learn", "new", path); code != 0 {
		t.Fatal(stderr)
	}
	if code, out, stderr := schedq(t, "", "learn", "lint", path); code != 0 || !strings.Contains(out, "3 steps, 2 questions, 1 goal\n") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if code, _, stderr := schedq(t, "", "learn", "new", path); code != 1 || !strings.Contains(stderr, "exists") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte("answer: active"), []byte("answer: gated"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := schedq(t, "", "learn", "lint", path)
	if code != 1 || !strings.Contains(stderr, "mine.yaml:65: gated is not the right answer to queue: in the model it is active") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestAScenarioIsCutAndPlayed: a part of a recording becomes a scenario, which is played like any recording.
func TestAScenarioIsCutAndPlayed(t *testing.T) {
	const recording = "../../sources/embedded/workshop.jsonl.zst"
	path := filepath.Join(t.TempDir(), "cut.yaml")
	if code, _, stderr := schedq(t, "", "convert", recording, "--from", "+2m", "--to", "+1m", "-o", path); code != 0 {
		t.Fatal(stderr)
	}
	code, out, stderr := schedq(t, "", "watch", path)
	if code != 0 || !strings.Contains(out, "in-flight") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	_, again, _ := schedq(t, "", "watch", path)
	if out != again {
		t.Error("it is not played the same twice")
	}
	_, old, _ := schedq(t, "", "watch", path, "--release", "v1.24")
	if out == old {
		t.Error("v1.24 plays it like v1.37")
	}
	for _, c := range []struct{ args, want string }{
		{"convert " + path + " -o x.jsonl", "is a scenario, in which no scheduler was recorded"},
		{"convert " + recording + " --from +1m -o x.jsonl", "name an OUT that ends in .yaml"},
		{"convert " + recording + " --from +1m -o x.parquet", "a table has all moves of a recording"},
		{"convert " + recording + " --feature-gates SchedulerPopFromBackoffQ=false -o x.jsonl", "--feature-gates says how the scheduler is modelled, which only moves show: name an OUT that ends in .parquet"},
		{"convert " + recording + " --from soon -o x.yaml", "--from soon is not a time"},
		{"convert " + recording + " --from +3m --to +60m -o -", "is not within the recording"},
		{"watch " + path + " " + recording, "is a scenario, which is played alone"},
	} {
		if code, _, stderr := schedq(t, "", strings.Fields(c.args)...); code == 0 || !strings.Contains(stderr, c.want) {
			t.Errorf("schedq %s: exit %d, %s, want %s", c.args, code, stderr, c.want)
		}
	}
}

// TestCutFor: --to +1m is a minute after --from, and not after the recording's start.
func TestCutFor(t *testing.T) {
	const recording = "../../sources/embedded/workshop.jsonl.zst"
	code, scenario, stderr := schedq(t, "", "convert", recording, "--from", "+2m", "--to", "+1m", "-o", "-")
	if code != 0 || !strings.Contains(scenario, "\nend: 1m0s\n") {
		t.Errorf("it ends with %d: %s\n%.300s", code, stderr, scenario)
	}
}

// TestWatchRefusesALiveClustersFlags: what only a live cluster has a use for is not passed over beside a file.
func TestWatchRefusesALiveClustersFlags(t *testing.T) {
	const recording = "../../sources/embedded/workshop.jsonl.zst"
	for _, flag := range []string{"--scheduler-log=x.log", "--scheduler-metrics=proxy", "--metrics-address=:0", "--as=somebody", "--request-timeout=5s"} {
		if code, _, stderr := schedq(t, "", "watch", recording, flag); code != 2 || !strings.Contains(stderr, strings.Split(flag, "=")[0]+" is for a") {
			t.Errorf("%s ends with %d and says %s", flag, code, stderr)
		}
	}
}
