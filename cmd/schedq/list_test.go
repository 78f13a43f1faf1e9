package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestList: the longest waiting comes first, with what rejected it and when it is tried at the latest.
func TestList(t *testing.T) {
	code, out, stderr := schedq(t, "", "list", "--recording", "workshop", "--at", "10:58:00")
	want := `  pod               waits   place          for    attempts  latest try  rejected by
  default/batch-1   1m34s   unschedulable  2.55s  6         11:03:16    NodeResourcesFit, TaintToleration
  default/train-0   1m26s   unschedulable  1m26s  1         11:01:46    NodeAffinity, TaintToleration
  default/quorum-2  40.59s  unschedulable  2.55s  4         11:03:16    InterPodAffinity, NodeResourcesFit
  default/quorum-3  40.59s  unschedulable  2.55s  3         11:03:16    InterPodAffinity, NodeResourcesFit
`
	if code != 0 || stderr != "" || out != want {
		t.Errorf("exit %d, %q, it says\n%s", code, stderr, out)
	}
	code, out, _ = schedq(t, "", "list", "--recording", "workshop", "--at", "10:58:00", "--filter", "train", "-o", "json")
	var pods []struct {
		Pod, Tier, NextTry, Provenance string
		AgeSeconds                     float64
		Plugins                        []string
	}
	if err := json.Unmarshal([]byte(out), &pods); code != 0 || err != nil || len(pods) != 1 {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if p := pods[0]; p.Pod != "default/train-0" || p.Tier != "unschedulable" || p.AgeSeconds < 85 || len(p.Plugins) != 2 ||
		!strings.HasPrefix(p.NextTry, "2026-11-21T11:01:4") || p.Provenance != "observed" {
		t.Errorf("%+v", p)
	}
	if code, out, _ := schedq(t, "", "list", "--recording", "workshop", "--at", "10:58:00", "--filter", "nobody"); code != 0 || out != "no pod waits\n" {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _, stderr := schedq(t, "", "list", "--recording", "workshop", "--at", "noon"); code == 0 || !strings.Contains(stderr, "--at noon is not a time") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
