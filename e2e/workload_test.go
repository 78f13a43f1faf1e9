package e2e

import (
	"cmp"
	"flag"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/schedq/schedq/e2e/controlplane"
	"github.com/schedq/schedq/e2e/workload"
)

var (
	seed    = flag.Uint64("seed", 1, "`seed` of the first workload")
	lasting = flag.Duration("lasting", 45*time.Second, "`duration` of a workload")
	steps   = flag.Int("steps", 0, "`number` of random steps of a workload; 0 means 6 per second")
	kind    = flag.String("workload", "random", "workload `kind`: random, or field, which adds what production clusters have")
	release = flag.String("release", "", "`release` of kube-scheduler, such as v1.33.0; default: that of the control plane")
)

// plan returns the options of the trial's workload.
func (tr trial) plan(t *testing.T) workload.Options {
	t.Helper()
	o := workload.Options{Seed: *seed + tr.seed, Nodes: 5, Steps: *steps, Duration: *lasting, Stuck: 48}
	if o.Steps == 0 {
		o.Steps = int(6 * lasting.Seconds())
	}
	switch cmp.Or(tr.workload, *kind) {
	case "random":
	case "field":
		o.Field, o.Devices = true, allocatesDevices(t, tr.release)
	default:
		t.Fatalf("invalid -workload %s: use random or field", *kind)
	}
	return o
}

// allocatesDevices reports whether a release of kube-scheduler has DynamicResourceAllocation on by default, from v1.34.
func allocatesDevices(t *testing.T, release string) bool {
	t.Helper()
	if release == "" {
		return true
	}
	minor, _, _ := strings.Cut(strings.TrimPrefix(release, "v1."), ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		t.Fatalf("invalid -release %s: use one such as v1.33.0", release)
	}
	return n >= 34
}

// prepare creates the objects that a workload needs, without running its steps. For a field workload it
// also starts the other components, which run until stop is called or the test ends.
func prepare(t *testing.T, c *controlplane.ControlPlane, client kubernetes.Interface, o workload.Options) (run *workload.Runner, stop func()) {
	t.Helper()
	run = workload.NewRunner(client, o)
	if err := run.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !o.Field {
		return run, func() {}
	}
	others, err := workload.PlayOthers(c.Client, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := others.Stop(); err != nil {
			t.Error(err) // not Fatal, which breaks OnceFunc
		}
	})
	t.Cleanup(stop)
	return run, stop
}
