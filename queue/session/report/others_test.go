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

// TestOtherSchedulers: the pods of schedulers without a profile are counted, each once. With a log of all
// moves, none is left out.
func TestOtherSchedulers(t *testing.T) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.PendingPod("ours", "1"), nil)
	world.ExpectText(t, OtherSchedulers(w.Events, cfg), "")
	by := func(scheduler string) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.SchedulerName = scheduler }
	}
	p := world.Change(&w, 2, sources.Added, world.PendingPod("job", "1"), by("volcano"))
	w.Patched(3, p, world.TooSmall, "")
	world.ExpectText(t, OtherSchedulers(w.Events, cfg), "Left out: 1 pod of other schedulers (volcano).")
	report, err := Summarize(t.Context(), w.Recording(9), timeline.Options{})
	if err != nil || report.LeftOut != "Left out: 1 pod of other schedulers (volcano)." {
		t.Errorf("%v, the report has %q", err, report.LeftOut)
	}
	for i := range 5 {
		world.Change(&w, 4, sources.Added, world.PendingPod(fmt.Sprint("of-", i), "1"), by(fmt.Sprint("s", i)))
	}
	world.ExpectText(t, OtherSchedulers(w.Events, cfg), "Left out: 6 pods of other schedulers (s0, s1, s2, 3 more).")
	w.Add(8, &sources.Move{Pod: world.Key("job"), To: sources.TierActive})
	world.ExpectText(t, OtherSchedulers(w.Events, cfg), "")
}
