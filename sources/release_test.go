package sources

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"
)

// TestWithRelease: a recording tells the release that a person gave, and no other, whether it is kept or read again.
func TestWithRelease(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	events := []Event{
		{Time: at(1), Fact: &Requested{}},
		{Time: at(2), Fact: &SchedulerRunning{Release: "v1.37.1", From: ReleaseAgent}},
		{Time: at(3), Fact: &SchedulerStarted{Release: "v1.37.1", ReleaseInferred: true, From: ReleaseLogged}},
		{Time: at(4), Fact: &Requested{}},
	}
	broken := errors.New("broken")
	for _, want := range []error{nil, broken} {
		rec := &Recording{Events: events[1:3], Reread: func(context.Context) iter.Seq2[Event, error] {
			return func(yield func(Event, error) bool) {
				for _, ev := range events {
					if !yield(ev, nil) {
						return
					}
				}
				if want != nil {
					yield(Event{}, want)
				}
			}
		}}
		given := rec.WithRelease("v1.31.4")
		var again []Event
		var failed error
		for ev, err := range given.All(t.Context()) {
			if failed = err; err == nil {
				again = append(again, ev)
			}
		}
		if !errors.Is(failed, want) || want == nil && failed != nil {
			t.Errorf("read again it ends with %v, want %v", failed, want)
		}
		kept := (&Recording{Events: events}).WithRelease("v1.31.4").Events
		for how, got := range map[string][]Event{"kept": kept, "read again": again} {
			checkGiven(t, how, got, []time.Time{at(1), at(1), at(3), at(4)})
		}
		checkGiven(t, "its summary", given.Events, []time.Time{at(2), at(3)})
		if events[2].Fact.(*SchedulerStarted).Release != "v1.37.1" {
			t.Fatal("the events did not stay as they were")
		}
		for range given.All(t.Context()) { // whoever stops at once gets no more
			break
		}
	}
}

// checkGiven compares the times of got, whose first says v1.31.4, as does each start.
func checkGiven(t *testing.T, how string, got []Event, times []time.Time) {
	t.Helper()
	var at []time.Time
	for i, ev := range got {
		at = append(at, ev.Time)
		heard, is := ev.Fact.(*SchedulerRunning)
		if is != (i == 0) || is && *heard != (SchedulerRunning{Release: "v1.31.4", From: ReleaseGiven}) {
			t.Errorf("%s, event %d is %v", how, i, ev.Fact)
		}
		if started, is := ev.Fact.(*SchedulerStarted); is && (started.Release != "v1.31.4" || started.From != ReleaseGiven || started.ReleaseInferred) {
			t.Errorf("%s, it started as %v", how, started)
		}
	}
	if !slices.EqualFunc(at, times, time.Time.Equal) {
		t.Errorf("%s, there are events at %v, want %v", how, at, times)
	}
}
