package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReopen: whatever convert writes, in any compression, opens without flags and has the same
// events. SCHEDQ_RECORDINGS is a folder of recordings to test besides the embedded ones.
func TestReopen(t *testing.T) {
	inputs := map[string][]string{}
	embedded, err := filepath.Glob("../../sources/embedded/*.jsonl.zst")
	if err != nil || len(embedded) == 0 {
		t.Fatalf("no embedded recordings: %v", err)
	}
	for _, path := range embedded {
		if !strings.Contains(path, ".gist.") { // the beginning of another one
			inputs[filepath.Base(path)] = []string{path}
		}
	}
	if root := os.Getenv("SCHEDQ_RECORDINGS"); root != "" {
		audits, err := filepath.Glob(filepath.Join(root, "*", "audit.log.gz"))
		if err != nil || len(audits) == 0 {
			t.Fatalf("no recordings in %s: %v", root, err)
		}
		for _, audit := range audits {
			log := filepath.Join(filepath.Dir(audit), "sched.log.gz")
			name := filepath.Base(filepath.Dir(audit))
			inputs[name+", objects"], inputs[name+", moves"], inputs[name+", both"] = []string{audit}, []string{log}, []string{audit, log}
		}
	}
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want string
			for _, out := range []string{"plain.trace", "gzip.trace.gz", "zstd.trace.zst"} {
				path := filepath.Join(t.TempDir(), out)
				if code, _, stderr := schedq(t, "", append([]string{"convert", "-o", path}, in...)...); code != 0 {
					t.Fatalf("convert to %s: exit %d, %s", out, code, stderr)
				}
				code, events, stderr := schedq(t, "", "convert", "-o", "-", path)
				if want == "" {
					want = events
				}
				if code != 0 || events != want || events == "" {
					t.Errorf("%s: exit %d, %d bytes, want %d as uncompressed: %s", out, code, len(events), len(want), stderr)
				}
			}
			if testing.Short() && !strings.HasPrefix(name, "workshop") {
				return // playing a large scenario takes seconds
			}
			lesson := filepath.Join(t.TempDir(), "lesson.yaml")
			switch code, _, stderr := schedq(t, "", append([]string{"convert", "-o", lesson}, in...)...); {
			case strings.HasSuffix(name, ", moves"): // a scenario needs objects
			case code != 0:
				t.Errorf("convert to a scenario: exit %d, %s", code, stderr)
			default:
				if code, _, stderr := schedq(t, "", "list", lesson); code != 0 {
					t.Errorf("the scenario: exit %d, %s", code, stderr)
				}
			}
		})
	}
}
