package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRun checks the program's output, which does not depend on the machine.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("output:\n%s", out.String())
		}
	})
}

// TestRunEnds checks that the program stops with its context, including all goroutines.
func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := run(ctx, &strings.Builder{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 120*time.Millisecond {
			t.Errorf("run returned after %v with %v", time.Since(start), err)
		}
	})
}

const want = `   0 ms  add node-1 with 2 slots
  50 ms  create picky, which needs an SSD
  50 ms    picky                → active        UnscheduledPodAdd
  50 ms    picky         active → inflight      attempt 1
  50 ms    picky       inflight → unschedulable rejected by NodeAffinity
 100 ms  create web-0
 100 ms    web-0                → active        UnscheduledPodAdd
 100 ms    web-0         active → inflight      attempt 1
 100 ms    web-0       inflight → scheduled
 150 ms  create web-1
 150 ms    web-1                → active        UnscheduledPodAdd
 150 ms    web-1         active → inflight      attempt 1
 150 ms    web-1       inflight → scheduled
 200 ms  create web-2
 200 ms    web-2                → active        UnscheduledPodAdd
 200 ms    web-2         active → inflight      attempt 1
 200 ms    web-2       inflight → unschedulable rejected by NodeResourcesFit
 250 ms  create gated, with a scheduling gate
 250 ms    gated                → gated         gated by SchedulingGates
 300 ms  delete web-0
 300 ms    web-2  unschedulable → backoff       AssignedPodDelete
 300 ms    web-2        backoff → inflight      attempt 2
 300 ms    web-2       inflight → scheduled
 350 ms  remove the gate
 350 ms    gated          gated → active        TargetPodUpdatePodSchedulingGatesEliminated
 350 ms    gated         active → inflight      attempt 1
 350 ms    gated       inflight → unschedulable rejected by NodeResourcesFit
 400 ms  add node-2 with an SSD and 2 slots
 400 ms    picky  unschedulable → backoff       NodeAdd
 400 ms    gated  unschedulable → backoff       NodeAdd
 400 ms    picky        backoff → inflight      attempt 2
 400 ms    picky       inflight → scheduled
 400 ms    gated        backoff → inflight      attempt 2
 400 ms    gated       inflight → scheduled
`
