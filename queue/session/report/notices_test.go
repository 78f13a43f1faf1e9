package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestLongQuietTimes: of a quiet time of more than a day only the end is played, and a person is told what is not.
func TestLongQuietTimes(t *testing.T) {
	var c world.Cluster
	world.Happens(&c, 0, sources.Added, world.Wants("a", "1"), nil)
	day := (24 * time.Hour).Seconds()
	world.Happens(&c, day, sources.Added, world.Wants("b", "1"), nil)
	if rec := c.Recording(day + 10); slices.ContainsFunc(Notices(rec), func(n string) bool { return strings.Contains(n, "nothing happened") }) {
		t.Errorf("of a day it says %q", Notices(rec))
	}
	world.Happens(&c, 4*day, sources.Added, world.Wants("c", "1"), nil)
	rec := c.Recording(4*day + 10)
	at := rec.Events[1].Time.UTC()
	want := "From " + at.Format("2006-01-02 15:04:05 UTC") + " to " + at.Add(48*time.Hour).Format("2006-01-02 15:04:05 UTC") +
		" nothing happened, and that is not played: of a quiet time, the last 24 hours are."
	if got := Notices(rec); !slices.Contains(got, want) {
		t.Errorf("the notices are %q, want %q", got, want)
	}
	world.Happens(&c, 8*day, sources.Added, world.Wants("d", "1"), nil)
	world.Says(t, unplayed(c.Events, false), strings.TrimSuffix(want, ".")+"; 1 such time more.")
	from := at.Add(time.Hour).Format("2006-01-02 15:04:05 UTC")
	world.Says(t, unplayed(c.Events[:3], true), "From "+from+want[len("From ")+len(from):len(want)-len("the last 24 hours are.")]+"the first 1 and the last 24 hours are.")
}
