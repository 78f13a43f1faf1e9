package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestLongQuietTimes: of a quiet time of more than a day only the end is played, with a notice about the rest.
func TestLongQuietTimes(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 0, sources.Added, world.PendingPod("a", "1"), nil)
	day := (24 * time.Hour).Seconds()
	world.Change(&c, day, sources.Added, world.PendingPod("b", "1"), nil)
	if rec := c.Recording(day + 10); slices.ContainsFunc(Notices(rec), func(n string) bool { return strings.Contains(n, "nothing happened") }) {
		t.Errorf("notices for one day: %q", Notices(rec))
	}
	world.Change(&c, 4*day, sources.Added, world.PendingPod("c", "1"), nil)
	rec := c.Recording(4*day + 10)
	at := rec.Events[1].Time.UTC()
	want := "Skipped " + at.Format("2006-01-02 15:04:05 UTC") + " to " + at.Add(48*time.Hour).Format("2006-01-02 15:04:05 UTC") +
		", when nothing happened: only the last 24 hours of a quiet time are played."
	if got := Notices(rec); !slices.Contains(got, want) {
		t.Errorf("the notices are %q, want %q", got, want)
	}
	world.Change(&c, 8*day, sources.Added, world.PendingPod("d", "1"), nil)
	world.ExpectText(t, quietTimes(c.Events, false), want+" Also skipped: 1 more quiet time.")
	from := at.Add(time.Hour).Format("2006-01-02 15:04:05 UTC")
	world.ExpectText(t, quietTimes(c.Events[:3], true), "Skipped "+from+strings.Replace(want[len("Skipped ")+len(from):], "only ", "only the first 1 and ", 1))
}

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

// TestSharedUIDs: pods that share a UID at the same time cause a notice; reusing a deleted pod's UID does not.
func TestSharedUIDs(t *testing.T) {
	pod := func(c *world.Cluster, seconds float64, verb sources.Verb, name, uid string) {
		p := world.PendingPod(name, "1")
		p.UID = types.UID(uid)
		world.Change(c, seconds, verb, p, nil)
	}
	var c world.Cluster
	pod(&c, 1, sources.Added, "a", "one")
	pod(&c, 2, sources.Updated, "a", "one")
	pod(&c, 3, sources.Deleted, "a", "one")
	pod(&c, 4, sources.Added, "b", "one")
	pod(&c, 5, sources.Added, "", "")
	pod(&c, 5, sources.Added, "c", "")
	if notice := sharedUIDs(c.Events); notice != "" {
		t.Errorf("pods one after the other: %q", notice)
	}
	pod(&c, 6, sources.Added, "c", "one")
	pod(&c, 7, sources.Updated, "c", "one")
	want := "Pods default/b and default/c have the same UID one: a local scheduler ignores the second."
	if got := Notices(c.Recording(10)); !slices.Contains(got, want) {
		t.Errorf("the notices are %q", got)
	}
	pod(&c, 8, sources.Added, "d", "one")
	world.ExpectText(t, sharedUIDs(c.Events), "Pods default/b and default/c have the same UID one: a local scheduler ignores the second, and 1 more such pod.")
}
