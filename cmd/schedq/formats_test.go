package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// kept holds a file of each version of each format, as docs/start/install.md promises. These files are never changed: a new
// version brings a new one.
const kept = "testdata/formats/"

// TestKeptFormats: the files of every version that there was are read for good, without a word about them.
func TestKeptFormats(t *testing.T) {
	for args, says := range map[string]string{
		"report " + kept + "trace-1.jsonl":         "24 moves",
		"report " + kept + "scenario-1.yaml":       " moves",
		"learn lint " + kept + "lesson-1.yaml":     `"Backoff is no retry timer" is right: 5 steps, 3 questions, 1 goal`,
		"watch --strict " + kept + "trace-1.jsonl": "ScheduleAttemptFailure",
	} {
		if code, stdout, stderr := schedq(t, "", strings.Fields(args)...); code != 0 || stderr != "" || !strings.Contains(stdout, says) {
			t.Errorf("schedq %s: exit %d, %q, and %.300q lacks %q", args, code, stderr, stdout, says)
		}
	}
}

// TestKeptLines: the lines of watch -o json have each field that they had, and the same in it. They may have others.
func TestKeptLines(t *testing.T) {
	before, err := os.ReadFile(kept + "watch-1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := schedq(t, "", "watch", kept+"trace-1.jsonl", "-o", "json")
	was, is := strings.Split(string(before), "\n"), strings.Split(stdout, "\n")
	if code != 0 || len(was) != len(is) {
		t.Fatalf("exit %d, %q, %d lines, want %d", code, stderr, len(is), len(was))
	}
	for i := range was {
		if was[i] == is[i] {
			continue
		}
		var old, now map[string]any
		if json.Unmarshal([]byte(was[i]), &old) != nil || json.Unmarshal([]byte(is[i]), &now) != nil {
			t.Fatalf("line %d: %s\nwant %s", i+1, is[i], was[i])
		}
		for field, value := range old {
			if !reflect.DeepEqual(value, now[field]) {
				t.Errorf("line %d: %s is %v, want %v", i+1, field, now[field], value)
			}
		}
	}
}
