package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/live/livetest"
)

// TestWait: in a recording, wait prints when the condition is met, and fails if it is not.
func TestWait(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string // the start of the line
	}{
		{"batch-1 --for unschedulable", 0, "default/batch-1: unschedulable after "},
		{"pod/batch-1 --for tried --at 10:57:00", 0, "default/batch-1: tried after 7.4s, at 2026-11-21 10:57:07.402 UTC (unschedulable, 3 attempts, observed)"},
		{"default/batch-1 --for waiting>20s", 0, "default/batch-1: waiting>20s after 20s, at "},
		{"pods/default/batch-1 --for attempts>=3", 0, "default/batch-1: attempts>=3 after "},
		{"po/batch-1 --for bound --timeout 10s --at 10:57:00", 1, "default/batch-1: not bound after 10s, at 2026-11-21 10:57:10.000 UTC (unschedulable, 3 attempts, observed)"},
		{"batch-1 --for plugin=NodeResourcesFit --timeout 0 --at 10:57:00", 0, "default/batch-1: plugin=NodeResourcesFit after 0s, at 2026-11-21 10:57:00.000 UTC"},
		{"batch-1 --for tier:backoff --timeout 0 --at 10:57:00", 1, "default/batch-1: not tier:backoff after 0s"},
		{"batch-1 --for attempts>900", 1, "default/batch-1: not attempts>900 after "},
	} {
		args := append([]string{"wait", "--recording", "workshop"}, strings.Fields(c.args)...)
		code, stdout, stderr := schedq(t, "", args...)
		if code != c.code || !strings.HasPrefix(stdout, c.want) || strings.Count(stdout, "\n") != 1 || (code != 0) != (stderr != "") {
			t.Errorf("wait %s: exit %d, %q, %q, want exit %d and %q", c.args, code, stdout, stderr, c.code, c.want)
		}
	}
	_, stdout, _ := schedq(t, "", "wait", "--recording", "workshop", "batch-1", "--for", "bound", "-o", "json")
	var result struct {
		Pod, For, Outcome, Tier string
		Time                    time.Time
		WaitedSeconds           float64
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || result.Pod != "default/batch-1" || result.For != "bound" || result.WaitedSeconds <= 0 || result.Time.IsZero() {
		t.Errorf("%s: %v", stdout, err)
	}
	for _, f := range []failure{
		{[]string{"wait", "batch-1", "--recording", "workshop"}, 2, "wait needs --for CONDITION"},
		{[]string{"wait", "batch-1", "--recording", "workshop", "--for", "boudn"}, 2, `did you mean "bound"?`},
		{[]string{"wait", "batch-1", "--recording", "workshop", "--for", "attempts>x"}, 2, "--for:"},
		{[]string{"wait", "--recording", "workshop", "--for", "bound"}, 2, "wait needs a pod"},
		{[]string{"wait", "a", "b", "--for", "bound"}, 2, "wait takes one pod"},
		{[]string{"wait", "a", "--for", "bound", "--timeout", "-1s"}, 2, "invalid --timeout"},
		{[]string{"wait", "nosuch", "--recording", "workshop", "--for", "bound"}, 1, "pod nosuch not found"},
	} {
		f.check(t)
	}
}

// TestWaitLive: in a live cluster, wait ends when the pod is bound or deleted, or at the timeout.
func TestWaitLive(t *testing.T) {
	server := livetest.New(t)
	bound := pendingPod("placed", "1")
	bound.Spec.NodeName = "node-a"
	server.Put(pendingPod("waits", "1"), pendingPod("leaves", "1"), bound)
	kubeconfig := server.Kubeconfig(t)
	wait := func(args ...string) (int, string, string) {
		return schedq(t, "", append([]string{"wait", "--kubeconfig", kubeconfig}, args...)...)
	}
	if code, stdout, stderr := wait("pod/placed", "--for", "bound"); code != 0 || !strings.HasPrefix(stdout, "default/placed: bound after 0s") || !strings.Contains(stdout, "bound to node-a") {
		t.Errorf("bound before: exit %d, %q, %q", code, stdout, stderr)
	}
	if code, stdout, stderr := wait("waits", "--for", "bound", "--timeout", "200ms"); code != 1 || !strings.HasPrefix(stdout, "default/waits: not bound after 200ms") || !strings.Contains(stderr, "timed out waiting") {
		t.Errorf("timeout: exit %d, %q, %q", code, stdout, stderr)
	}
	if code, stdout, stderr := wait("nosuch", "--for", "bound"); code != 1 || stdout != "" || !strings.Contains(stderr, "pod nosuch not found") {
		t.Errorf("no such pod: exit %d, %q, %q", code, stdout, stderr)
	}
	var out output
	ended := make(chan int, 1)
	go func() {
		ended <- run(context.Background(), []string{"wait", "leaves", "--for", "deleted", "--kubeconfig", kubeconfig, "--timeout", "1m"}, strings.NewReader(""), &out, &out)
	}()
	out.waitFor(t, "attached", time.Minute)
	server.Delete(pendingPod("leaves", "1"))
	select {
	case code := <-ended:
		if code != 0 || !strings.Contains(out.String(), "default/leaves: deleted after ") {
			t.Errorf("deleted: exit %d, %q", code, out.String())
		}
	case <-time.After(time.Minute):
		t.Errorf("still waits: %q", out.String())
	}
}
