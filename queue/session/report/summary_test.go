package report_test

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSummary: everything derived from the summary of a long recording equals that from all events.
func TestSummary(t *testing.T) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		kept := world.Recordings(60).Draw(t, "recording")
		shift := time.Duration(0)
		for i := range kept.Events {
			ev := &kept.Events[i]
			shift += rapid.SampledFrom([]time.Duration{0, 0, 0, 0, time.Hour, 30 * time.Hour}).Draw(t, "quiet")
			ev.Time = ev.Time.Add(shift)
			c, is := ev.Fact.(*sources.ObjectChange)
			switch {
			case is:
				pod := c.Object.(*v1.Pod).DeepCopy()
				pod.UID = rapid.SampledFrom([]types.UID{pod.UID, pod.UID, "shared"}).Draw(t, "uid")
				pod.Spec.SchedulerName = rapid.SampledFrom([]string{"", v1.DefaultSchedulerName, "volcano", "yunikorn"}).Draw(t, "scheduler")
				pod.Spec.NodeName = rapid.SampledFrom([]string{"", "", "node-a"}).Draw(t, "node")
				ev.Fact = &sources.ObjectChange{Verb: rapid.SampledFrom([]sources.Verb{sources.Added, sources.Updated, sources.Deleted}).Draw(t, "verb"), Object: pod}
			case rapid.IntRange(0, 3).Draw(t, "else") > 0:
				ev.Fact = rapid.SampledFrom([]sources.Fact{
					&sources.Requested{}, &sources.StatusPatched{}, &sources.FailedAttempt{}, &sources.Attached{},
					&sources.Bound{Began: ev.Time.Add(-time.Duration(rapid.IntRange(0, 9).Draw(t, "took")) * time.Second)},
					&sources.SchedulerRunning{Release: "v1.31.4", From: sources.ReleaseAgent}, &sources.SchedulerRunning{Release: "v1.33.0", From: sources.ReleaseAgent},
					&sources.ObjectChange{Verb: sources.Updated, Object: &v1.Node{}},
				}).Draw(t, "fact")
			}
		}
		if rapid.Bool().Draw(t, "modelled") {
			kept.Events = slices.DeleteFunc(kept.Events, func(ev sources.Event) bool { _, is := ev.Fact.(*sources.Move); return is })
		}
		summary := cluster.NewSummary()
		for _, ev := range kept.Events {
			summary.Add(ev)
		}
		long := &sources.Recording{Name: kept.Name, Events: summary.Events(), Reread: func(context.Context) iter.Seq2[sources.Event, error] { return kept.All(context.Background()) }}
		if got, want := report.Notices(long), report.Notices(kept); !slices.Equal(got, want) {
			t.Fatalf("from the summary:\n%q\nfrom all events:\n%q", got, want)
		}
		if got, want := report.OtherSchedulers(long.Events, cfg), report.OtherSchedulers(kept.Events, cfg); got != want {
			t.Fatalf("from the summary:\n%q\nfrom all events:\n%q", got, want)
		}
		again, err := shadow.Rerun(kept, "")
		if err == nil {
			longAgain, err := shadow.Rerun(long, "")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := report.Notices(longAgain), report.Notices(again); !slices.Equal(got, want) {
				t.Fatalf("from the summary of a rerun:\n%q\nfrom all events:\n%q", got, want)
			}
			if a, b := all(t, longAgain), all(t, again); !slices.Equal(a, b) {
				t.Fatalf("a rerun of a long recording has %d events, and of a short one %d", len(a), len(b))
			}
			from, to := timeline.Span(longAgain)
			if first, last := timeline.Span(again); !from.Equal(first) || !to.Equal(last) {
				t.Fatalf("the summary of a rerun is from %s to %s, all events are from %s to %s", from, to, first, last)
			}
		}
		from, to := timeline.Span(long)
		if first, last := timeline.Span(kept); !from.Equal(first) || !to.Equal(last) {
			t.Fatalf("the summary is from %s to %s, all events are from %s to %s", from, to, first, last)
		}
		if got, want := longestAttempt(long), longestAttempt(kept); got != want {
			t.Fatalf("the longest attempt of the summary takes %s, and of all events %s", got, want)
		}
		for i, ev := range long.Events {
			if sources.Took(ev) > 0 && slices.ContainsFunc(long.Events[:i], func(other sources.Event) bool { return other.Fact == ev.Fact }) {
				t.Fatalf("the summary contains the attempt that ended at %s twice", ev.Time)
			}
		}
		if got, want := cluster.ReportsNoFailures(long.Events), cluster.ReportsNoFailures(kept.Events); got != want {
			t.Fatalf("ReportsNoFailures: %v, with all events: %v", got, want)
		}
		if got, want := cluster.HasFailures(long.Events), cluster.HasFailures(kept.Events); got != want {
			t.Fatalf("HasFailures: %v, with all events: %v", got, want)
		}
		if got, want := timeline.RecordedScheduler(long), timeline.RecordedScheduler(kept); (got == nil) != (want == nil) || got != nil && got.Release != want.Release {
			t.Fatalf("the summary has %v, all events have %v", got, want)
		}
	})
}

// longestAttempt returns the duration of rec's longest attempt.
func longestAttempt(rec *sources.Recording) (longest time.Duration) {
	for _, ev := range rec.Events {
		longest = max(longest, sources.Took(ev))
	}
	return longest
}

// all returns all events of rec.
func all(t *rapid.T, rec *sources.Recording) []sources.Event {
	var events []sources.Event
	for ev, err := range rec.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}
