package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue/session/report"
)

// TestVerifyJSON compares a recording with itself.
func TestVerifyJSON(t *testing.T) {
	code, out, stderr := schedq(t, "", "verify", "-o", "json", "--recording", "workshop", "--truth", workshop)
	var v struct {
		Transitions report.MoveAgreement
		PodSeconds  struct{ Total, Share float64 }
		Differences []report.Difference
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("exit %d, %v: %s%s", code, err, stderr, out)
	}
	if m := v.Transitions; code != 0 || m.Truth != 357 || m.Matched != 357 || m.Recall != 1 || v.PodSeconds.Total <= 0 || v.PodSeconds.Share != 1 || v.Differences == nil || len(v.Differences) != 0 {
		t.Errorf("a recording differs from itself: %s", out)
	}
	if !strings.Contains(stderr, "contains the scheduler's own moves") {
		t.Errorf("%q", stderr)
	}
}

func TestVerifyText(t *testing.T) {
	write := writer(t)
	truth := write("truth", traceOf(
		`{"time":"2026-11-21T10:00:00Z","move":{"pod":"default/a","to":"active","event":"UnscheduledPodAdd"}}`,
		`{"time":"2026-11-21T10:00:02Z","move":{"pod":"default/a","to":"inflight"}}`,
		`{"time":"2026-11-21T10:00:04Z","move":{"pod":"default/a","to":"scheduled"}}`))
	rec := write("rec", traceOf(
		`{"time":"2026-11-21T10:00:00Z","move":{"pod":"default/a","to":"active","event":"UnscheduledPodAdd"}}`,
		`{"time":"2026-11-21T10:00:03.5Z","move":{"pod":"default/a","to":"inflight"}}`))
	want := `rec compared with truth, 2026-11-21 10:00:00 to 10:00:04 UTC
waiting pods, each second: tier right 100.0 %, plugins –, end of backoff –, attempts –
moves: 3 in truth, 2 in the model, 1 in both: recall 33.3 %, precision 50.0 %
time in the queue: 4s in truth, 62.5 % of it right in the model

time in        truth  right    share
active            2s     2s  100.0 %
backoff           0s     0s        –
unschedulable     0s     0s        –
gated             0s     0s        –
in-flight         2s  500ms   25.0 %

moves to                   truth  model  both
active  UnscheduledPodAdd      1      1     1
in-flight                      1      1     0
bound                          1      0     0

2026-11-21 10:00:02.000  missed  default/a  → in-flight  (active in the model)
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
		want  string
	}{
		{"33.3", 0, ""},
		{"34", 1, "recall is 33.3 %, below --least 34 %"},
		{"101", 2, "invalid --least 101"},
	} {
		code, out, stderr := schedq(t, "", "verify", rec, "--truth", truth, "--least", test.least)
		if code != test.code || !strings.Contains(stderr, test.want) || (out != "") != (code < 2) {
			t.Errorf("--least %s: exit %d, %q, %q", test.least, code, stderr, out)
		}
	}
	_, out, _ = schedq(t, "", "verify", rec, "--truth", truth, "--differences", "0")
	if table, _, _ := strings.Cut(want, "\n2026"); out != table {
		t.Errorf("--differences 0 prints\n%s", out)
	}
}

func TestVerifyErrors(t *testing.T) {
	write := writer(t)
	for _, f := range []failure{
		{[]string{"verify", workshop}, 2, "needs --truth"},
		{[]string{"verify", "--truth", workshop}, 2, "needs a file"},
		{[]string{"verify", workshop, "--truth", workshop, "--differences", "-1"}, 2, "invalid --differences -1"},
		{[]string{"verify", workshop, "--truth", write("marks", traceOf(`{"time":"2026-11-21T10:57:00Z","mark":{"text":"x"}}`))}, 1, "marks contains no scheduler moves"},
		{[]string{"verify", workshop, "--truth", write("quiet.log", `I1121 10:57:00.500000       1 server.go:187] "Starting Kubernetes Scheduler" version="v1.37.1"`+"\n")}, 1, "quiet.log contains no scheduler moves"},
		{[]string{"verify", workshop, "--truth", "missing"}, 1, "missing"},
		{[]string{"verify", workshop, "--truth", "../../sources/embedded/workshop-nopop.jsonl.zst"}, 1, "of different runs"},
		{[]string{"verify", workshop, "--truth", write("others", traceOf(`{"time":"2026-11-21T10:57:00Z","move":{"pod":"elsewhere/x","to":"active"}}`))}, 1, "none of the 1 pods"},
	} {
		f.check(t)
	}
}

// TestVerifySameFile: a file that is both recording and truth has its notices printed once.
func TestVerifySameFile(t *testing.T) {
	log := writer(t)("sched.log", `I1121 10:00:01.000000       1 schedule_one.go:158] "Attempting to schedule pod" pod="a/b/c"`+"\n"+
		`I1121 10:00:02.000000       1 schedule_one.go:158] "Attempting to schedule pod" pod="default/a"`+"\n")
	code, _, stderr := schedq(t, "", "verify", log, "--truth", log)
	if n := strings.Count(stderr, "can't be read"); code != 0 || n != 1 {
		t.Errorf("exit %d, printed %d times:\n%s", code, n, stderr)
	}
}

// TestVerifyAnswers: the answers of each second are compared: where a waiting pod is, why, until
// when and after how many attempts.
func TestVerifyAnswers(t *testing.T) {
	write := writer(t)
	tried := func(second string, to, plugins string) []string {
		return []string{`{"time":"2026-11-21T10:00:` + second + `Z","move":{"pod":"default/a","to":"inflight"}}`,
			`{"time":"2026-11-21T10:00:` + second + `Z","move":{"pod":"default/a","to":"` + to + `","event":"ScheduleAttemptFailure","plugins":[` + plugins + `]}}`}
	}
	added := `{"time":"2026-11-21T10:00:00Z","move":{"pod":"default/a","to":"active","event":"UnscheduledPodAdd"}}`
	ends := `{"time":"2026-11-21T10:00:20Z","move":{"pod":"default/a","to":"deleted"}}`
	// The truth: active for 2 s, unschedulable for 10 s after one attempt, in backoffQ for 8 s after four more.
	truth := append([]string{added}, tried("02", "unschedulable", `"NodeResourcesFit"`)...)
	for _, second := range []string{"12", "12.1", "12.2", "12.3"} {
		truth = append(truth, tried(second, "backoff", `"NodeResourcesFit"`)...)
	}
	// The model: active for 4 s, the other plugin, and one attempt instead of four at 12 s.
	model := append([]string{added}, tried("04", "unschedulable", `"NodeAffinity"`)...)
	model = append(model, tried("12", "backoff", `"NodeResourcesFit"`)...)
	code, out, stderr := schedq(t, "", "verify", "-o", "json", write("model", traceOf(append(model, ends)...)), "--truth", write("truth", traceOf(append(truth, ends)...)))
	var v struct{ Answers report.Answers }
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s%s", code, err, stderr, out)
	}
	want := report.Answers{Tier: report.Answer{Asked: 20, Right: 18}, Plugins: report.Answer{Asked: 18, Right: 8}, Return: report.Answer{Asked: 8}, Attempts: report.Answer{Asked: 18, Right: 10},
		LongestWrong: 2, Of: "default/a"}
	if v.Answers != want {
		t.Errorf("%+v, want %+v", v.Answers, want)
	}
}
