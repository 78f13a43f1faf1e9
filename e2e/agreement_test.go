package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/schedq/schedq/e2e/controlplane"
	"github.com/schedq/schedq/e2e/workload"
)

// verification is what schedq verify -o json prints.
type verification struct {
	Transitions struct {
		Truth, Model, Matched int
		Recall, Precision     float64
	}
	PodSeconds struct {
		Total, Share float64
		Tiers        []struct {
			Tier                string
			Truth, Right, Share float64
		}
	}
	Differences []struct{ Kind, Time, Pod, To, Event, ModelTier string }
}

// Goals and floors of agreement. The goals are for a machine that has time for schedq, and are only
// printed; below the floors, a test fails.
const (
	goal, floor               = 0.97, 0.93
	goalHalfway, floorHalfway = 0.95, 0.90
	// settled is how long after schedq was attached half-way its figures begin to count.
	settled = 10 * time.Second
)

// TestAgreement plays random workloads to a real scheduler, and compares what schedq makes of them with
// the scheduler's own log: attached from the start, attached half-way, and from the audit log afterwards.
func TestAgreement(t *testing.T) {
	for i, gates := range []string{"SchedulerPopFromBackoffQ=true", "SchedulerPopFromBackoffQ=false"} {
		t.Run(gates, func(t *testing.T) {
			c := startControlPlane(t, controlplane.Options{FeatureGates: gates, Users: workload.Users})
			client, err := c.Client(controlplane.Admin)
			if err != nil {
				t.Fatal(err)
			}
			grant(t, client)
			kubeconfig := schedqKubeconfig(t, c, "")
			watch := func() *attached {
				a := attach(t, kubeconfig, "watch", "-o", "json", "--feature-gates", gates)
				a.waitWatching(t)
				return a
			}

			fromStart := watch()
			run, stop := prepare(t, c, client, plan(t, *kind, "", *seed+uint64(i)))
			if err := run.Half(t.Context()); err != nil {
				t.Fatal(err)
			}
			pending := waiting(t, client)
			halfway, attachedAt := watch(), time.Now()
			if err := run.All(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, a := range []*attached{fromStart, halfway} {
				waitTiers(t, client, a.out)
				a.stop(t)
			}
			stop()
			c.Stop()

			dir := t.TempDir()
			truth := filepath.Join(dir, "truth.jsonl")
			schedulersMoves(t, c.SchedulerLog(), truth)
			compare := func(file string, from time.Time) verification {
				writeTrace(t, filepath.Join(dir, "model.trace"), readMoves(t, file), from)
				writeTrace(t, filepath.Join(dir, "truth.trace"), readMoves(t, truth), from)
				return verify(t, filepath.Join(dir, "model.trace"), filepath.Join(dir, "truth.trace"))
			}

			v := compare(fromStart.out, time.Time{})
			v.report(t, "attached from the start")
			for figure, got := range map[string]float64{
				"recall": v.Transitions.Recall, "precision": v.Transitions.Precision, "pod-seconds": v.PodSeconds.Share,
			} {
				check(t, "from the start: "+figure, got, goal, floor)
			}
			v = compare(halfway.out, attachedAt.Add(settled))
			v.report(t, fmt.Sprintf("attached half-way with %d pods pending, %v later", pending, settled))
			check(t, "half-way: pod-seconds", v.PodSeconds.Share, goalHalfway, floorHalfway)
			verify(t, c.AuditLog(), c.SchedulerLog(), "--feature-gates", gates).report(t, "audit log")
			onlyReads(t, c.AuditLog())
			holdsNoSecret(t, fromStart.out, fromStart.errs, halfway.out, halfway.errs)
		})
	}
}

// check compares a figure with its goal and its floor.
func check(t *testing.T, figure string, got, goal, floor float64) {
	t.Helper()
	switch {
	case got < floor:
		t.Errorf("%s is %.2f %%, and must be %.0f %% at least", figure, 100*got, 100*floor)
	case got < goal:
		t.Logf("%s is %.2f %%, short of its goal of %.0f %%", figure, 100*got, 100*goal)
	}
}

// waiting returns how many pods wait to be scheduled.
func waiting(t *testing.T, client kubernetes.Interface) int {
	t.Helper()
	_, pods, err := freshList(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range pods.Items {
		if p.Spec.NodeName == "" {
			n++
		}
	}
	return n
}

// schedulersMoves writes the moves in kube-scheduler's log to a file, as schedq watch writes moves.
func schedulersMoves(t *testing.T, log, to string) {
	t.Helper()
	cmd := exec.Command(schedq, "watch", log, "-o", "json")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	if err := os.WriteFile(to, out, 0o600); err != nil {
		t.Fatal(err)
	}
}

// verify runs schedq verify.
func verify(t *testing.T, recording, truth string, flags ...string) verification {
	t.Helper()
	cmd := exec.Command(schedq, append([]string{"verify", recording, "--truth", truth, "-o", "json", "--differences", "100000"}, flags...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.String())
	}
	var v verification
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// report prints the figures, and the first differences.
func (v verification) report(t *testing.T, of string) {
	t.Helper()
	m, p := v.Transitions, v.PodSeconds
	t.Logf("%s: %d moves, recall %.2f %%, precision %.2f %%; %.0f pod-seconds, %.2f %% right",
		of, m.Truth, 100*m.Recall, 100*m.Precision, p.Total, 100*p.Share)
	for _, tier := range p.Tiers {
		t.Logf("  %-14s %8.1f s, %6.2f %% right", tier.Tier, tier.Truth, 100*tier.Share)
	}
	for _, d := range v.Differences[:min(len(v.Differences), 3)] {
		t.Logf("  %s %s %s → %s %s (the model has it in %q)", d.Time, d.Kind, d.Pod, d.To, d.Event, d.ModelTier)
	}
}
