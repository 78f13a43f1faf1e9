package report

import (
	"slices"
	"strings"
	"testing"
	"time"

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
