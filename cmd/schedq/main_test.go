package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// schedq carries out a command line and returns what it wrote.
func schedq(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &out, &err)
	return code, out.String(), err.String()
}

func TestWatchIsJSONLines(t *testing.T) {
	code, out, stderr := schedq(t, "", "watch", "--recording", "workshop", "-o", "json")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 357 {
		t.Errorf("%d lines, want the 357 moves of the recording", len(lines))
	}
	var first map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]any{"pod": "default/web-1", "to": "active", "event": "UnscheduledPodAdd", "provenance": "observed"} {
		if first[field] != want {
			t.Errorf("the first line's %s is %v, want %v", field, first[field], want)
		}
	}
}

// TestConvertRoundTrip: a trace of a trace tells the same moves.
func TestConvertRoundTrip(t *testing.T) {
	dir := t.TempDir()
	_, want, _ := schedq(t, "", "watch", "--recording", "workshop-nopop", "-o", "json")
	for _, ending := range []string{"", ".gz", ".zst"} {
		first := filepath.Join(dir, "first.jsonl"+ending)
		source := filepath.Join("..", "..", "sources", "embedded", "workshop-nopop.jsonl.zst")
		code, worth, stderr := schedq(t, "", "convert", source, "-o", first)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		if !strings.Contains(worth, "\n  scheduler log              366 moves\n") {
			t.Errorf("its worth is not said: %q", worth)
		}
		if _, got, _ := schedq(t, "", "watch", first, "-o", "json"); got != want {
			t.Errorf("%s tells other moves than what it was converted from", filepath.Base(first))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".part-*")); left != nil {
		t.Errorf("convert left %v", left)
	}
}

func TestReport(t *testing.T) {
	code, out, _ := schedq(t, "", "report", "--recording", "workshop")
	for _, want := range []string{"39 pods, 357 moves", "woken by", "AssignedPodDelete", "NodeResourcesFit"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, no %q in\n%s", code, want, out)
		}
	}
	code, out, _ = schedq(t, "", "report", "--recording", "workshop", "-o", "json")
	var report struct{ Pods, Moves int }
	if err := json.Unmarshal([]byte(out), &report); code != 0 || err != nil || report.Pods != 39 {
		t.Errorf("exit %d, %v, %+v", code, err, report)
	}
}

// TestMistakes: each gives one sentence, and the exit code that says whose mistake it is.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	trace := filepath.Join("..", "..", "sources", "embedded", "workshop.jsonl.zst")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"watch"}, 1, "there is no kubeconfig"},
		{[]string{"verify", "--truth", trace}, 2, "needs a file"},
		{[]string{"watch", trace, "--context", "prod"}, 2, "not both"},
		{[]string{"watch", "--recording", "workshop", trace}, 2, "not both"},
		{[]string{"watch", "--recording", "nothing"}, 2, `no embedded recording "nothing"`},
		{[]string{"watch", trace, "-o", "xml"}, 2, "the outputs are text and json"},
		{[]string{"watch", "--nonsense"}, 2, "unknown flag"},
		{[]string{"nonsense"}, 2, "there is no command"},
		{[]string{trace}, 1, "not a terminal"},
		{[]string{trace, filepath.Join(dir, "missing.log")}, 1, "missing.log"},
		{[]string{trace, "--recording", "workshop"}, 2, "not both"},
		{[]string{"replay"}, 2, "schedq: replay needs FILE..."},
		{[]string{"replay", "--speed", "0", trace}, 2, "--speed 0 is not within"},
		{[]string{"replay", "--speed", "NaN", trace}, 2, "--speed NaN is not within"},
		{[]string{"replay", "--at", "noon", trace}, 2, "--at noon is not a time"},
		{[]string{"replay", "--at", "+99h", trace}, 2, "--at +99h is not within the recording: it is from"},
		{[]string{"convert", trace}, 2, "needs -o"},
		{[]string{"convert", trace, "-o", trace}, 2, "overwrite its input"},
		{[]string{"convert", trace, "-o", filepath.Join(dir, "no", "such", "folder.jsonl")}, 1, "no such file or directory"},
		{[]string{"replay", trace}, 1, "not a terminal"},
		{[]string{"compare", trace}, 2, "schedq: compare needs FIRST SECOND"},
		{[]string{"compare", trace, trace, trace}, 2, "schedq: compare takes FIRST SECOND, and "},
		{[]string{"compare", trace, "nowhere.jsonl"}, 1, "nowhere.jsonl: no such file"},
		{[]string{"compare", trace, trace}, 1, "not a terminal"},
		{[]string{"watch", filepath.Join(dir, "missing")}, 1, "missing"},
		{[]string{"watch", t.TempDir()}, 1, "there is no file in it"},
		{[]string{"watch", write("empty", "")}, 1, "empty"},
		{[]string{"watch", write("other.log", "Jan 1 00:00:00 host sshd[1]: hello\n")}, 1, "other.log"},
		{[]string{"watch", write("future", `{"schedq":"trace","version":99}`+"\n")}, 1, "version 99"},
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

// TestStandardInput reads a recording from standard input, cut off in its last line.
func TestStandardInput(t *testing.T) {
	input := `{"schedq":"trace","version":1}` + "\n"
	_, out, stderr := schedq(t, input+`{"time":"2026-11-21T12:00:00Z","mo`, "watch", "-")
	if !strings.Contains(stderr, "cut off") {
		t.Errorf("wrote %q and says %q, want to hear that the last line is cut off", out, stderr)
	}
}

// TestStrict: a damaged line is told of and the others play, unless a person wants it refused.
func TestStrict(t *testing.T) {
	input := `{"schedq":"trace","version":1}` + "\n" + `{"time":"2026-11-21T12:00:00Z","move":{"pod":"default/a","to":"active"}} GARBAGE` + "\n"
	code, out, stderr := schedq(t, input, "watch", "-")
	if code != 0 || !strings.Contains(out, "default/a") || !strings.Contains(stderr, "schedq: standard input: line 2 can be read only in part: something follows the JSON object\n") {
		t.Errorf("exit %d, wrote %q and says %q", code, out, stderr)
	}
	for _, args := range [][]string{{"watch"}, {"report"}, {"explain", "a"}, {"rerun", "--release", "v1.24"}, {"convert", "-o", filepath.Join(t.TempDir(), "out")}, {"replay"},
		{"verify", "--truth", filepath.Join("..", "..", "sources", "embedded", "workshop.jsonl.zst")}} {
		code, out, stderr := schedq(t, input, append(args, "-", "--strict")...)
		if code != 1 || out != "" || stderr != "schedq: standard input:2: something follows the JSON object\n" {
			t.Errorf("%v: exit %d, wrote %q and says %q", args, code, out, stderr)
		}
	}
}
