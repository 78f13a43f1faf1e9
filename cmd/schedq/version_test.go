package main

import (
	"encoding/json"
	"testing"
)

// TestVersion: what a report of a mistake needs is in schedq version, and a program can read it.
func TestVersion(t *testing.T) {
	code, stdout, stderr := schedq(t, "", "version", "-o", "json")
	var b build
	if err := json.Unmarshal([]byte(stdout), &b); code != 0 || stderr != "" || err != nil {
		t.Fatalf("exit %d, %q, %q, %v", code, stdout, stderr, err)
	}
	if b.Version == "" || b.Go == "" || b.Platform == "" || len(b.Releases) < 8 || b.Releases[0] != "v1.37" {
		t.Errorf("%+v", b)
	}
	if b.Formats["trace"] != 1 || b.Formats["lesson"] != 1 || b.Formats["scenario"] != 1 {
		t.Errorf("the formats are %v: docs/start/install.md, and a kept file of each version before", b.Formats)
	}
}
