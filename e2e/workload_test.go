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
	seed    = flag.Uint64("seed", 1, "the first workload's seed")
	lasting = flag.Duration("lasting", 45*time.Second, "how long a workload lasts")
	steps   = flag.Int("steps", 0, "how many random steps a workload has; 0 are 6 a second")
	kind    = flag.String("workload", "random", "what is played: random, or field, which has what production has beside")
	release = flag.String("release", "", "kube-scheduler's release, such as v1.33.0; empty is that of all else")
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
		o.Field, o.Devices = true, handsOutDevices(t, tr.release)
	default:
		t.Fatalf("-workload %s: it is random or field", *kind)
	}
	return o
}

// handsOutDevices reports whether kube-scheduler of a release does so: DynamicResourceAllocation is on from v1.34.
func handsOutDevices(t *testing.T, release string) bool {
	t.Helper()
	if release == "" {
		return true
	}
	minor, _, _ := strings.Cut(strings.TrimPrefix(release, "v1."), ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		t.Fatalf("-release %s: it is one such as v1.33.0", release)
	}
	return n >= 34
}

// prepare makes ready a workload: what it needs is there, its steps are not yet done. The others in the cluster play
// until stop is called, or the test is over.
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
			t.Error(err) // not Fatal, which no OnceFunc survives
		}
	})
	t.Cleanup(stop)
	return run, stop
}
