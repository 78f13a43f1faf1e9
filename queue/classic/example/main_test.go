package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRun: the program prints this, whatever the machine.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("it prints\n%s", out.String())
		}
	})
}

// TestRunEnds: interrupted, it ends at once, and everything that it started.
func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := run(ctx, &strings.Builder{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 120*time.Millisecond {
			t.Errorf("it ended after %v with %v", time.Since(start), err)
		}
	})
}

const want = `   0 ms  node-1 has 2 places
  50 ms  picky wants a node with an SSD
  50 ms    picky                → active        UnscheduledPodAdd
  50 ms    picky         active → inflight      attempt 1
  50 ms    picky       inflight → unschedulable rejected by NodeAffinity
 100 ms  web-0 comes
 100 ms    web-0                → active        UnscheduledPodAdd
 100 ms    web-0         active → inflight      attempt 1
 100 ms    web-0       inflight → scheduled
 150 ms  web-1 comes
 150 ms    web-1                → active        UnscheduledPodAdd
 150 ms    web-1         active → inflight      attempt 1
 150 ms    web-1       inflight → scheduled
 200 ms  web-2 comes
 200 ms    web-2                → active        UnscheduledPodAdd
 200 ms    web-2         active → inflight      attempt 1
 200 ms    web-2       inflight → unschedulable rejected by NodeResourcesFit
 250 ms  a pod comes whose gate is closed
 250 ms    gated                → gated         gated by SchedulingGates
 300 ms  web-0 ends, and leaves a place
 300 ms    web-2  unschedulable → backoff       AssignedPodDelete
 300 ms    web-2        backoff → inflight      attempt 2
 300 ms    web-2       inflight → scheduled
 350 ms  the gate opens
 350 ms    gated          gated → active        TargetPodUpdatePodSchedulingGatesEliminated
 350 ms    gated         active → inflight      attempt 1
 350 ms    gated       inflight → unschedulable rejected by NodeResourcesFit
 400 ms  node-2 has an SSD and 2 places
 400 ms    picky  unschedulable → backoff       NodeAdd
 400 ms    gated  unschedulable → backoff       NodeAdd
 400 ms    picky        backoff → inflight      attempt 2
 400 ms    picky       inflight → scheduled
 400 ms    gated        backoff → inflight      attempt 2
 400 ms    gated       inflight → scheduled
`
