package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLearnList: --list and --progress work without a terminal.
func TestLearnList(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	progress := filepath.Join(os.Getenv("XDG_STATE_HOME"), "schedq", "lessons.json")
	setProgress := func(text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(progress), 0o700), os.WriteFile(progress, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	// Two of the missed questions belong to an older version of the lesson.
	setProgress(`{"comb": {"done": true, "asked": 2, "right": 1}, "gates": {"step": 2},
		"one-two-four": {"done": true, "asked": 4, "right": 3, "missed": [{"step": 2, "ask": 0}, {"step": 99, "ask": 0}, {"step": 1, "ask": 7}]}}`)
	code, out, stderr := schedq(t, "", "learn", "--list")
	if code != 0 || !strings.Contains(out, "done, 1 of 2 answers right") || !strings.Contains(out, "step 3 of 6") || !strings.Contains(out, "\n  1   three-places         Pending is three places   ") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	const want = `The scheduling queue, from its three places to an incident
2 of 26 lessons done, about 89 minutes left. 4 of 6 answers right.

Retry your wrong answers:
  schedq learn 2 --step 3   After the third: How long is it now?
`
	if code, out, stderr := schedq(t, "", "learn", "--progress"); code != 0 || out != want {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	write := writer(t)
	hour := write("hour.yaml", "schedq: course\nversion: 1\ntitle: An hour\nlessons:\n  - {lesson: gates, minutes: 20}\n  - {lesson: one-two-four, minutes: 40}\n")
	if code, out, stderr := schedq(t, "", "learn", "--course", hour, "--progress"); code != 0 ||
		!strings.HasPrefix(out, "An hour\n1 of 2 lessons done, about 20 minutes left. 3 of 4") || !strings.Contains(out, "--course "+hour+" 2 --step 3") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	fresh := write("fresh.yaml", "schedq: course\nversion: 1\ntitle: New\nlessons:\n  - {lesson: crowd, minutes: 5}\n")
	if code, out, stderr := schedq(t, "", "learn", "--course", fresh, "--progress"); code != 0 || out != "New\n0 of 1 lessons done, about 5 minutes left.\n" {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if code, out, stderr := schedq(t, "", "learn", "lint", hour); code != 0 || !strings.Contains(out, `"An hour" is valid: 2 lessons, 60 minutes`) {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	for args, f := range map[string]failure{
		"learn --course " + hour + " 3": {code: 2, want: `unknown lesson "3": use a number from 1 to 2 or a name: gates, one-two-four`},
		"learn --course nowhere.yaml":   {code: 1, want: "nowhere.yaml: no such file"},
		"learn 99":                      {code: 2, want: `unknown lesson "99": use a number from 1 to 26 or a name: three-places`},
		"learn comb":                    {code: 1, want: "standard output is not a terminal"},
		"learn nowhere.yaml":            {code: 1, want: "nowhere.yaml: no such file"},
		"learn lint":                    {code: 2, want: "learn lint needs FILE..."},
		"learn new Not-A-Name.yaml":     {code: 2, want: "is not a Kubernetes object name"},
		"play -o mine.txt":              {code: 2, want: "must end in .yaml"},
		"play --release v0.1":           {code: 2, want: "unknown release"},
	} {
		f.args = strings.Fields(args)
		f.check(t)
	}
	setProgress("{")
	failure{[]string{"learn", "--list"}, 1, "is damaged"}.check(t)
}

// TestLessonFiles: learn new writes a valid lesson, and learn lint reports errors by line.
func TestLessonFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if code, _, stderr := schedq(t, "", "learn", "new", path); code != 0 {
		t.Fatal(stderr)
	}
	if code, out, stderr := schedq(t, "", "learn", "lint", path); code != 0 || !strings.Contains(out, "3 steps, 2 questions, 1 goal\n") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
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

// TestCutScenario: a part of a recording becomes a scenario that plays like any recording.
func TestCutScenario(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut.yaml")
	if code, _, stderr := schedq(t, "", "convert", workshop, "--from", "+2m", "--to", "+1m", "-o", path); code != 0 {
		t.Fatal(stderr)
	}
	code, out, stderr := schedq(t, "", "watch", path)
	if code != 0 || !strings.Contains(out, "in-flight") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	_, again, _ := schedq(t, "", "watch", path)
	if out != again {
		t.Error("playing it twice gives other moves")
	}
	_, old, _ := schedq(t, "", "watch", path, "--release", "v1.24")
	if out == old {
		t.Error("v1.24 plays it like v1.37")
	}
	for args, f := range map[string]failure{
		"convert " + path + " -o x.jsonl":                                                    {code: 1, want: "is a scenario and has no recorded scheduler"},
		"convert " + workshop + " --from +1m -o x.jsonl":                                     {code: 2, want: "use an OUT that ends in .yaml"},
		"convert " + workshop + " --from +1m -o x.parquet":                                   {code: 2, want: "do not apply to tables"},
		"convert " + workshop + " --feature-gates SchedulerPopFromBackoffQ=false -o x.jsonl": {code: 2, want: "--feature-gates applies only to a table of moves: use an OUT that ends in .parquet"},
		"convert " + workshop + " --from soon -o x.yaml":                                     {code: 2, want: "invalid time --from soon"},
		"convert " + workshop + " --from +3m --to +60m -o -":                                 {code: 2, want: "is outside the recording"},
		"watch " + path + " " + workshop:                                                     {code: 1, want: "is a scenario: pass it alone"},
	} {
		f.args = strings.Fields(args)
		f.check(t)
	}
	// --to +1m is relative to --from.
	code, scenario, stderr := schedq(t, "", "convert", workshop, "--from", "+2m", "--to", "+1m", "-o", "-")
	if code != 0 || !strings.Contains(scenario, "\nend: 1m0s\n") {
		t.Errorf("exit %d: %s\n%.300s", code, stderr, scenario)
	}
}

// TestLiveFlagsWithFile: flags that need a live cluster are errors with a file.
func TestLiveFlagsWithFile(t *testing.T) {
	for _, flag := range []string{"--scheduler-log=x.log", "--scheduler-metrics=proxy", "--metrics-address=:0", "--as=somebody", "--request-timeout=5s"} {
		failure{[]string{"watch", workshop, flag}, 2, strings.Split(flag, "=")[0] + " is for a"}.check(t)
	}
}
