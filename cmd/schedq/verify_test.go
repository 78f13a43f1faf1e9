package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue/session/report"
)

// verifyJSON is what verify -o json prints.
func verifyJSON(t *testing.T, args ...string) (v report.Verification, stderr string) {
	t.Helper()
	code, out, stderr := schedq(t, "", append([]string{"verify", "-o", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	// Seconds are written as seconds, and nobody reads them back.
	var read struct {
		Transitions report.MoveAgreement
		PodSeconds  struct{ Total, Right, Share float64 }
		Differences []report.Difference
	}
	if err := json.Unmarshal([]byte(out), &read); err != nil {
		t.Fatal(err)
	}
	if read.Differences == nil || read.PodSeconds.Total <= 0 {
		t.Errorf("the JSON lacks something: %s", out)
	}
	v.Transitions, v.Differences, v.PodSeconds.Share = read.Transitions, read.Differences, read.PodSeconds.Share
	return v, stderr
}

// TestVerify compares a recording of moves with itself, and the same recording without its moves, which is
// what an audit log alone tells, with them.
func TestVerify(t *testing.T) {
	truth := filepath.Join("..", "..", "sources", "embedded", "workshop.jsonl.zst")
	v, stderr := verifyJSON(t, "--recording", "workshop", "--truth", truth)
	if m := v.Transitions; m.Truth != 357 || m.Matched != 357 || m.Recall != 1 || m.Precision != 1 || v.PodSeconds.Share != 1 || len(v.Differences) != 0 {
		t.Errorf("a recording does not agree with itself: %+v", v)
	}
	if !strings.Contains(stderr, "holds the scheduler's own moves") {
		t.Errorf("it says %q", stderr)
	}

	whole, audit := filepath.Join(t.TempDir(), "whole.jsonl"), filepath.Join(t.TempDir(), "audit.jsonl")
	if code, _, stderr := schedq(t, "", "convert", truth, "-o", whole); code != 0 {
		t.Fatal(stderr)
	}
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	var objects []string
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, `"move":{`) {
			objects = append(objects, line)
		}
	}
	if err := os.WriteFile(audit, []byte(strings.Join(objects, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	v, stderr = verifyJSON(t, audit, "--truth", truth, "--differences", "3")
	if m := v.Transitions; m.Truth != 357 || m.Recall < 0.5 || m.Recall > 1 || m.Precision < 0.9 || m.Precision > 1 || v.PodSeconds.Share < 0.9 {
		t.Errorf("%+v", v)
	}
	if m := v.Transitions; len(v.Differences) != min(3, m.Truth+m.Model-2*m.Matched) {
		t.Errorf("%d differences, of %+v", len(v.Differences), m)
	}
	if strings.Contains(stderr, "own moves") {
		t.Errorf("it says %q", stderr)
	}
}

// TestVerifyText: what a person reads.
func TestVerifyText(t *testing.T) {
	write := writer(t)
	truth := write("truth", verifyTrace(
		`{"time":"2026-11-21T10:00:00Z","move":{"pod":"default/a","to":"active","event":"UnscheduledPodAdd"}}`,
		`{"time":"2026-11-21T10:00:02Z","move":{"pod":"default/a","to":"inflight"}}`,
		`{"time":"2026-11-21T10:00:04Z","move":{"pod":"default/a","to":"scheduled"}}`))
	rec := write("rec", verifyTrace(
		`{"time":"2026-11-21T10:00:00Z","move":{"pod":"default/a","to":"active","event":"UnscheduledPodAdd"}}`,
		`{"time":"2026-11-21T10:00:03.5Z","move":{"pod":"default/a","to":"inflight"}}`))
	want := `moves: 3 in truth, 2 of the model, 1 the same: recall 33.3 %, precision 50.0 %
time in the queue: 4s in truth, the model is right for 62.5 % of it

time in        truth  right    share
active            2s     2s  100.0 %
backoff           0s     0s        –
unschedulable     0s     0s        –
gated             0s     0s        –
in-flight         2s  500ms   25.0 %

moves to                   truth  model  the same
active  UnscheduledPodAdd      1      1         1
in-flight                      1      1         0
bound                          1      0         0

2026-11-21 10:00:02.000  missed  default/a  → in-flight  (in the model it is active)
2026-11-21 10:00:03.500  extra   default/a  → in-flight
and 1 more
`
	code, out, stderr := schedq(t, "", "verify", rec, "--truth", truth, "--differences", "2")
	if code != 0 || out != want {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
	for _, test := range []struct {
		least string
		code  int
		says  string
	}{
		{"33.3", 0, ""},
		{"34", 1, "recall is 33.3 %, and --least asks for 34 %"},
		{"101", 2, "--least 101 is not within 0 and 100 percent"},
	} {
		code, out, stderr := schedq(t, "", "verify", rec, "--truth", truth, "--least", test.least)
		if code != test.code || !strings.Contains(stderr, test.says) || (out != "") != (code < 2) {
			t.Errorf("--least %s: exit %d, says %q, writes %q", test.least, code, stderr, out)
		}
	}
	_, out, _ = schedq(t, "", "verify", rec, "--truth", truth, "--differences", "0")
	if table, _, _ := strings.Cut(want, "\n2026"); out != table {
		t.Errorf("--differences 0 prints\n%s", out)
	}
}

// TestVerifyYear: a klog has no year, and gets that of the recording it is compared with.
func TestVerifyYear(t *testing.T) {
	write := writer(t)
	rec := write("rec", verifyTrace(`{"time":"2019-11-21T10:00:01Z","move":{"pod":"default/a","to":"active","event":"UnscheduledPodAdd"}}`,
		`{"time":"2019-11-21T10:00:02Z","move":{"pod":"default/a","to":"inflight"}}`))
	log := write("sched.log", `I1121 10:00:01.002000       1 active_queue.go:414] "Entity moved to an internal scheduling queue" type="pod" entity="default/a" event="UnscheduledPodAdd" queue="Active"
I1121 10:00:02.003000       1 schedule_one.go:158] "Attempting to schedule pod" pod="default/a"
`)
	if v, _ := verifyJSON(t, rec, "--truth", log); v.Transitions.Matched != 2 || v.Transitions.Truth != 2 {
		t.Errorf("%+v", v)
	}
}

func TestVerifyMistakes(t *testing.T) {
	write := writer(t)
	rec := filepath.Join("..", "..", "sources", "embedded", "workshop.jsonl.zst")
	other := filepath.Join("..", "..", "sources", "embedded", "workshop-nopop.jsonl.zst")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"verify", rec}, 2, "needs --truth"},
		{[]string{"verify", "--truth", rec}, 2, "needs a file"},
		{[]string{"verify", rec, "--truth", rec, "--differences", "-1"}, 2, "--differences -1"},
		{[]string{"verify", rec, "--truth", rec, "-o", "xml"}, 2, "the outputs are text and json"},
		{[]string{"verify", rec, "--truth", write("marks", verifyTrace(`{"time":"2026-11-21T10:57:00Z","mark":{"text":"x"}}`))}, 1, "marks contains no scheduler moves"},
		{[]string{"verify", rec, "--truth", write("quiet.log", `I1121 10:57:00.500000       1 server.go:187] "Starting Kubernetes Scheduler" version="v1.37.1"`+"\n")}, 1, "quiet.log contains no scheduler moves"},
		{[]string{"verify", rec, "--truth", filepath.Join(t.TempDir(), "missing")}, 1, "missing"},
		{[]string{"verify", rec, "--truth", other}, 1, "of different runs"},
		{[]string{"verify", rec, "--truth", write("others", verifyTrace(`{"time":"2026-11-21T10:57:00Z","move":{"pod":"elsewhere/x","to":"active"}}`))}, 1, "none of the 1 pods"},
	} {
		code, out, stderr := schedq(t, "", c.args...)
		if code != c.code || !strings.Contains(stderr, c.says) || out != "" {
			t.Errorf("schedq %s: exit %d, %q, want exit %d and %q", strings.Join(c.args, " "), code, stderr, c.code, c.says)
		}
		sentence, _, _ := strings.Cut(stderr, "\nSee schedq --help.")
		if strings.Count(strings.TrimSpace(sentence), "\n") != 0 {
			t.Errorf("schedq %s says more than a sentence: %q", strings.Join(c.args, " "), stderr)
		}
	}
}

// writer returns a function that writes a file into a fresh folder and returns its path.
func writer(t *testing.T) func(name, content string) string {
	dir := t.TempDir()
	return func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// verifyTrace is a trace of these records.
func verifyTrace(records ...string) string {
	return `{"schedq":"trace","version":1}` + "\n" + strings.Join(records, "\n") + "\n"
}

// TestVerifyOfItself: what is wrong with a file that is recording and truth at once is said once.
func TestVerifyOfItself(t *testing.T) {
	log := filepath.Join(t.TempDir(), "sched.log")
	text := `I1121 10:00:01.000000       1 schedule_one.go:158] "Attempting to schedule pod" pod="a/b/c"` + "\n" +
		`I1121 10:00:02.000000       1 schedule_one.go:158] "Attempting to schedule pod" pod="default/a"` + "\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := schedq(t, "", "verify", log, "--truth", log)
	if n := strings.Count(stderr, "can't be read"); code != 0 || n != 1 {
		t.Errorf("exit %d, it is said %d times:\n%s", code, n, stderr)
	}
}
