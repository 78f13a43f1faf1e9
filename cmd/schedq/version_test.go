package main

import (
	"encoding/json"
	"testing"
)

// TestVersion: version -o json contains what a bug report needs.
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
		t.Errorf("formats %v: update docs/start/install.md, and add a file to testdata/formats", b.Formats)
	}
}
