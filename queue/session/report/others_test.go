package report

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestOthersPods: the pods of schedulers that have no profile are counted, each once; of a log that tells all moves, none is
// left out.
func TestOthersPods(t *testing.T) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	var w world.Cluster
	world.Happens(&w, 1, sources.Added, world.Wants("ours", "1"), nil)
	world.Says(t, OthersPods(w.Events, cfg), "")
	by := func(scheduler string) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.SchedulerName = scheduler }
	}
	p := world.Happens(&w, 2, sources.Added, world.Wants("job", "1"), by("volcano"))
	w.Patched(3, p, world.TooSmall, "")
	world.Says(t, OthersPods(w.Events, cfg), "Left out: 1 pod of other schedulers (volcano).")
	report, err := Summarize(t.Context(), w.Recording(9), timeline.Options{})
	if err != nil || report.LeftOut != "Left out: 1 pod of other schedulers (volcano)." {
		t.Errorf("%v, the report says %q", err, report.LeftOut)
	}
	for i := range 5 {
		world.Happens(&w, 4, sources.Added, world.Wants(fmt.Sprint("of-", i), "1"), by(fmt.Sprint("s", i)))
	}
	world.Says(t, OthersPods(w.Events, cfg), "Left out: 6 pods of other schedulers (s0, s1, s2, 3 more).")
	w.Add(8, &sources.Move{Pod: world.Key("job"), To: sources.TierActive})
	world.Says(t, OthersPods(w.Events, cfg), "")
}
