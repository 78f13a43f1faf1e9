package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// formats holds a file of each version of each format, as docs/start/install.md promises. Never change
// them: add a file for a new version.
const formats = "testdata/formats/"

// TestOldFormats: files of every version can be read, without a notice.
func TestOldFormats(t *testing.T) {
	for args, want := range map[string]string{
		"report " + formats + "trace-1.jsonl":         "24 moves",
		"report " + formats + "scenario-1.yaml":       " moves",
		"learn lint " + formats + "lesson-1.yaml":     `"Backoff is no retry timer" is valid: 5 steps, 3 questions, 1 goal`,
		"watch --strict " + formats + "trace-1.jsonl": "ScheduleAttemptFailure",
	} {
		if code, stdout, stderr := schedq(t, "", strings.Fields(args)...); code != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("schedq %s: exit %d, %q, no %q in %.300q", args, code, stderr, want, stdout)
		}
	}
}

// TestOldFields: watch -o json keeps its fields and their values. It may add fields.
func TestOldFields(t *testing.T) {
	before, err := os.ReadFile(formats + "watch-1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := schedq(t, "", "watch", formats+"trace-1.jsonl", "-o", "json")
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
