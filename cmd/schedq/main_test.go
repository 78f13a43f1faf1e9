package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/schedq/schedq/config"
)

// workshop is the file of an embedded recording that contains the scheduler's moves.
const workshop = "../../sources/embedded/workshop.jsonl.zst"

// TestMain keeps the user's configuration and state, and the log of kube-scheduler's code, out of
// the tests.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	home, err := os.MkdirTemp("", "schedq")
	if err != nil {
		panic(err)
	}
	for _, variable := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		if err := os.Setenv(variable, home); err != nil {
			panic(err)
		}
	}
	if err := os.Unsetenv(config.FileVariable); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(home); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// schedq executes a command line and returns its output.
func schedq(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &out, &err)
	return code, out.String(), err.String()
}

// failure is a command line that fails without output.
type failure struct {
	args []string
	code int
	want string // part of the error
}

// check executes the command line and checks its exit code and its error, which is one line.
func (f failure) check(t *testing.T) {
	t.Helper()
	code, out, stderr := schedq(t, "", f.args...)
	line, _, _ := strings.Cut(stderr, "\nSee schedq ")
	if code != f.code || !strings.Contains(stderr, f.want) || out != "" || strings.Contains(strings.TrimSpace(line), "\n") {
		t.Errorf("schedq %s: exit %d, %q, %q, want exit %d and one line with %q", strings.Join(f.args, " "), code, out, stderr, f.code, f.want)
	}
}

// writer returns a function that writes a file into a new folder and returns its path.
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

// traceOf returns a trace with these records.
func traceOf(records ...string) string {
	return `{"schedq":"trace","version":1}` + "\n" + strings.Join(records, "\n") + "\n"
}

// output is the output of a running command. It is safe for concurrent use.
type output struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{} // closed at the next Write; nil if nobody waits
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// waitFor waits until the output contains text.
func (o *output) waitFor(t *testing.T, text string, timeout time.Duration) {
	t.Helper()
	for late := time.After(timeout); ; {
		o.mu.Lock()
		if o.changed == nil {
			o.changed = make(chan struct{})
		}
		changed, got := o.changed, o.text.String()
		o.mu.Unlock()
		if strings.Contains(got, text) {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("no %q within %s in %q", text, timeout, got)
		}
	}
}

// eventually polls files or addresses of another process until ok returns true. It fails with the
// last result of ok.
func eventually(t *testing.T, what string, ok func() (seen string, done bool)) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		seen, done := ok()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is missing in\n%s", what, seen)
		}
	}
}

// eventuallyIn waits until the file at path contains text.
func eventuallyIn(t *testing.T, path, text string) {
	t.Helper()
	eventually(t, text, func() (string, bool) {
		got, _ := os.ReadFile(path)
		return string(got), bytes.Contains(got, []byte(text))
	})
}

func TestWatchJSON(t *testing.T) {
	code, out, stderr := schedq(t, "", "watch", "--recording", "workshop", "-o", "json")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 357 {
		t.Errorf("%d lines, want the recording's 357 moves", len(lines))
	}
	var first map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]any{"pod": "default/web-1", "to": "active", "event": "UnscheduledPodAdd", "provenance": "observed"} {
		if first[field] != want {
			t.Errorf("%s of the first line is %v, want %v", field, first[field], want)
		}
	}
}

// TestConvertRoundTrip: converting a trace keeps its moves.
func TestConvertRoundTrip(t *testing.T) {
	dir := t.TempDir()
	_, want, _ := schedq(t, "", "watch", "--recording", "workshop-nopop", "-o", "json")
	for _, ending := range []string{"", ".gz", ".zst"} {
		first := filepath.Join(dir, "first.jsonl"+ending)
		code, facts, stderr := schedq(t, "", "convert", "../../sources/embedded/workshop-nopop.jsonl.zst", "-o", first)
		if code != 0 || !strings.Contains(facts, "\n  scheduler log              366 moves\n") {
			t.Fatalf("exit %d: %s%s", code, stderr, facts)
		}
		if _, got, _ := schedq(t, "", "watch", first, "-o", "json"); got != want {
			t.Errorf("%s has other moves than its source", filepath.Base(first))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".part-*")); left != nil {
		t.Errorf("convert left %v", left)
	}
}

// TestReport: with --filter, a pod that matches after any of its moves counts with all of them.
func TestReport(t *testing.T) {
	_, moves, _ := schedq(t, "", "watch", "--recording", "workshop", "--filter", "name=store-0")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"39 pods, 357 moves", "woken by", "AssignedPodDelete", "NodeResourcesFit"}},
		{[]string{"--filter", "name=store-0 tier:unsched"}, []string{fmt.Sprintf("1 pods, %d moves,", strings.Count(moves, "\n"))}},
		{[]string{"-o", "json"}, []string{`"pods": 39`}},
	} {
		code, out, _ := schedq(t, "", append([]string{"report", "--recording", "workshop"}, c.args...)...)
		for _, want := range c.want {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%q: exit %d, no %q in\n%s", c.args, code, want, out)
			}
		}
	}
}

// TestFilterFlag: --filter has the syntax of / on the screen.
func TestFilterFlag(t *testing.T) {
	code, out, stderr := schedq(t, "", "watch", "--recording", "workshop", "--filter", "store tier:unsched attempts>=2")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) >= 357 {
		t.Errorf("%d moves match", len(lines))
	}
	for _, line := range lines {
		if !strings.Contains(line, "store") || !strings.Contains(line, "→ unschedulable") || strings.Contains(line, " 1 attempt") {
			t.Errorf("a move matches that must not: %s", line)
		}
	}
}

// TestList: the longest waiting pod comes first.
func TestList(t *testing.T) {
	code, out, stderr := schedq(t, "", "list", "--recording", "workshop", "--at", "10:58:00")
	want := `workshop at 2026-11-21 10:58:00.000 UTC: 4 pods pending

  pod               pending  tier           for    attempts  next try  why
  default/batch-1   1m34s    unschedulable  2.55s  6         11:03:16  2 of 3 nodes have less than 3 CPUs free, 1 has an untolerated taint.
  default/train-0   1m26s    unschedulable  1m26s  1         11:01:46  2 of 3 nodes lack the label topology.kubernetes.io/zone=zone-c, 1 has an untolerated taint.
  default/quorum-2  40.59s   unschedulable  2.55s  4         11:03:16  2 of 3 nodes have less than 100m CPU free, 1 is ruled out by a pod anti-affinity.
  default/quorum-3  40.59s   unschedulable  2.55s  3         11:03:16  2 of 3 nodes have less than 100m CPU free, 1 is ruled out by a pod anti-affinity.
`
	if code != 0 || stderr != "" || out != want {
		t.Errorf("exit %d, %q\n%s", code, stderr, out)
	}
	code, out, _ = schedq(t, "", "list", "--recording", "workshop", "--at", "10:58:00", "--filter", "train", "-o", "json")
	var listed struct {
		Source, Time string
		Pods         []struct {
			Pod, Tier, NextTry, Provenance string
			AgeSeconds                     float64
			Plugins                        []string
		}
	}
	if err := json.Unmarshal([]byte(out), &listed); code != 0 || err != nil || len(listed.Pods) != 1 {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if listed.Source != "workshop" || listed.Time != "2026-11-21T10:58:00Z" {
		t.Errorf("it lists %s at %s", listed.Source, listed.Time)
	}
	if p := listed.Pods[0]; p.Pod != "default/train-0" || p.Tier != "unschedulable" || p.AgeSeconds < 85 || len(p.Plugins) != 2 ||
		!strings.HasPrefix(p.NextTry, "2026-11-21T11:01:4") || p.Provenance != "observed" {
		t.Errorf("%+v", p)
	}
	if code, out, _ := schedq(t, "", "list", "--recording", "workshop", "--at", "10:58:00", "--filter", "nobody"); code != 0 || out != "workshop at 2026-11-21 10:58:00.000 UTC: 0 pods pending\n" {
		t.Errorf("exit %d: %s", code, out)
	}
}

// TestErrors: an error is one line, and the exit code tells usage errors from others.
func TestErrors(t *testing.T) {
	write := writer(t)
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("KUBECONFIG", missing)
	for _, f := range []failure{
		{[]string{"watch"}, 1, "no kubeconfig names a cluster"},
		{[]string{"watch", workshop, "--context", "prod"}, 2, "not both"},
		{[]string{"watch", "--recording", "workshop", workshop}, 2, "not both"},
		{[]string{"watch", "--recording", "nothing"}, 2, `no embedded recording "nothing"`},
		{[]string{"watch", workshop, "-o", "xml"}, 2, `invalid output format "xml": use text or json`},
		{[]string{"watch", "--nonsense"}, 2, "unknown flag"},
		{[]string{"nonsense"}, 2, `unknown command or file "nonsense"`},
		{[]string{workshop}, 1, "not a terminal"},
		{[]string{workshop, missing}, 1, "missing"},
		{[]string{workshop, "--recording", "workshop"}, 2, "not both"},
		{[]string{"replay"}, 2, "schedq: replay needs FILE..."},
		{[]string{"replay", "--speed", "0", workshop}, 2, "invalid --speed 0"},
		{[]string{"replay", "--speed", "NaN", workshop}, 2, "invalid --speed NaN"},
		{[]string{"replay", "--at", "noon", workshop}, 2, "invalid time --at noon"},
		{[]string{"replay", "--at", "+99h", workshop}, 2, "--at +99h is outside the recording"},
		{[]string{"list", "--recording", "workshop", "--at", "noon"}, 2, "invalid time --at noon"},
		{[]string{"convert", workshop}, 2, "needs -o"},
		{[]string{"convert", workshop, "-o", workshop}, 2, "overwrite its input"},
		{[]string{"convert", workshop, "-o", filepath.Join(missing, "folder.jsonl")}, 1, "no such file or directory"},
		{[]string{"replay", workshop}, 1, "not a terminal"},
		{[]string{"compare", workshop}, 2, "schedq: compare needs FIRST SECOND"},
		{[]string{"compare", workshop, workshop, workshop}, 2, "schedq: compare takes only FIRST SECOND"},
		{[]string{"compare", workshop, "nowhere.jsonl"}, 1, "nowhere.jsonl: no such file"},
		{[]string{"compare", workshop, workshop}, 1, "not a terminal"},
		{[]string{"man"}, 2, "schedq: man needs DIR"},
		{[]string{"watch", missing}, 1, "missing"},
		{[]string{"watch", t.TempDir()}, 1, "contains no file"},
		{[]string{"watch", write("empty", "")}, 1, "empty"},
		{[]string{"watch", write("other.log", "Jan 1 00:00:00 host sshd[1]: hello\n")}, 1, "other.log"},
		{[]string{"watch", write("future", `{"schedq":"trace","version":99}`+"\n")}, 1, "version 99"},
	} {
		f.check(t)
	}
}

// TestTruncatedInput: a recording on standard input that ends within a line.
func TestTruncatedInput(t *testing.T) {
	_, out, stderr := schedq(t, traceOf()+`{"time":"2026-11-21T12:00:00Z","mo`, "watch", "-")
	if !strings.Contains(stderr, "cut off") {
		t.Errorf("%q, %q, want a notice that the last line is cut off", out, stderr)
	}
}

// TestStrict: a damaged line is reported and skipped, or with --strict an error.
func TestStrict(t *testing.T) {
	input := traceOf(`{"time":"2026-11-21T12:00:00Z","move":{"pod":"default/a","to":"active"}} GARBAGE`)
	code, out, stderr := schedq(t, input, "watch", "-")
	if code != 0 || !strings.Contains(out, "default/a") || !strings.Contains(stderr, "schedq: standard input: line 2 can be read only in part: something follows the JSON object\n") {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	for _, args := range [][]string{{"watch"}, {"report"}, {"explain", "a"}, {"rerun", "--release", "v1.24"}, {"convert", "-o", filepath.Join(t.TempDir(), "out")}, {"replay"},
		{"verify", "--truth", workshop}} {
		code, out, stderr := schedq(t, input, append(args, "-", "--strict")...)
		if code != 1 || out != "" || stderr != "schedq: standard input:2: something follows the JSON object\n" {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, stderr)
		}
	}
}
