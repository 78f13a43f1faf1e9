package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestExplainCycle: the text begins with the conclusion and fits into 80 columns.
func TestExplainCycle(t *testing.T) {
	for pod, want := range map[string]string{
		"quorum-0":                      "node-c: 472 points, the most of 2 feasible nodes.",
		"web-2":                         "node-b: 454 points, the most of 2 feasible nodes.",
		"urgent-0":                      "node-a: only one node is feasible: kube-scheduler computes no scores then.",
		"store-0 --at 10:57:00":         "No node is feasible: VolumeBinding rejects 3 of 3 nodes.",
		"urgent-0 --at 10:57:57.400":    "No node is feasible: NodeResourcesFit rejects 2 of 3 nodes, TaintToleration",
		"batch-1 --at 10:57:00 -n x":    "",
		"quorum-0 --cycle --o markdown": "",
		"nobody":                        "",
	} {
		code, out, stderr := schedq(t, "", append([]string{"explain", "--recording", "workshop", "--cycle"}, strings.Fields(pod)...)...)
		lines := strings.Split(out, "\n")
		if want == "" {
			if code == 0 || stderr == "" {
				t.Errorf("%s: exit %d", pod, code)
			}
			continue
		}
		if code != 0 || stderr != "" || len(lines) < 3 || lines[1] != want {
			t.Errorf("%s: exit %d, %q\n%s", pod, code, stderr, out)
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("%s: %q is wider than 80 columns", pod, line)
			}
		}
	}
}

// TestExplainCycleJSON: the JSON has the documented fields, with all rejections of each node.
func TestExplainCycleJSON(t *testing.T) {
	code, out, stderr := schedq(t, "", "explain", "quorum-0", "--recording", "workshop", "--cycle", "-o", "json")
	var c struct {
		Pod, Provenance, Node string
		Attempts              int
		Score                 struct{ Plugins []struct{ Plugin string } }
		Nodes                 []struct {
			Node, Outcome string
			Rank          int
			Total         int64
			Scores        []struct{ Raw, Normalized, Weighted int64 }
			Rejections    []struct{ Plugin string }
		}
		Actual struct{ Node, Match string }
	}
	if err := json.Unmarshal([]byte(out), &c); code != 0 || stderr != "" || err != nil {
		t.Fatalf("exit %d, %s, %v", code, stderr, err)
	}
	if c.Pod != "default/quorum-0" || c.Provenance != "rerun" || c.Node != "node-c" || c.Attempts != 1 || c.Actual.Match != "equal" || len(c.Nodes) != 3 {
		t.Errorf("%+v", c)
	}
	if n := c.Nodes[0]; n.Node != "node-c" || n.Outcome != "feasible" || n.Rank != 1 || n.Total != 472 || len(n.Scores) != len(c.Score.Plugins) {
		t.Errorf("%+v", n)
	}
	if n := c.Nodes[2]; n.Outcome != "rejected" || len(n.Rejections) == 0 || n.Scores != nil {
		t.Errorf("%+v", n)
	}
}
