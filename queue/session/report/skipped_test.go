package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSkippedMoves: skipped moves are decoded as they were encoded.
func TestSkippedMoves(t *testing.T) {
	want := []countedMove{
		{at: 1, from: queue.None, to: queue.Active, observed: true},
		{at: never, attempts: math.MaxInt, event: math.MaxUint32, rejection: math.MaxUint32, from: queue.Pending, to: queue.Deleted},
		{at: math.MaxInt64, attempts: 3, event: 200, from: queue.Gated, to: queue.Gated, restated: true, observed: true},
		{at: math.MaxInt64 - 1, rejection: 7, from: queue.Backoff, to: queue.InFlight, restated: true},
		{},
	}
	var passed skippedMoves
	for _, m := range want {
		passed.add(m)
	}
	if got := slices.Collect(passed.all()); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for m := range passed.all() {
		if m != want[0] {
			t.Errorf("the first is %+v", m)
		}
		break
	}
}

// TestSkippedMovesOfReusedName: a late selection includes the moves of all pods with the name, even long gone ones.
func TestSkippedMovesOfReusedName(t *testing.T) {
	var events []sources.Event
	at := 0.0
	for nth := range 4 {
		for i := range 3 {
			add := func(to sources.Tier, event string) {
				events, at = append(events, world.Move(at, fmt.Sprint("p-", i), to, event)), at+100
			}
			add(sources.TierActive, "UnscheduledPodAdd")
			add(sources.TierInFlight, "")
			for range i * nth { // only some of them are tried more than three times
				add(sources.TierUnschedulable, "ScheduleAttemptFailure")
				add(sources.TierActive, "NodeAdd")
				add(sources.TierInFlight, "")
			}
			add("deleted", "")
		}
	}
	selected, err := filter.Parse("attempts>3")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Summarize(t.Context(), &sources.Recording{Name: "moves", Events: events}, timeline.Options{Filter: selected})
	if err != nil {
		t.Fatal(err)
	}
	// p-1 is tried at most four times, p-2 up to seven.
	of := slices.DeleteFunc(slices.Clone(events), func(ev sources.Event) bool { return strings.HasSuffix(ev.Fact.(*sources.Move).Pod.Name, "-0") })
	want, err := Summarize(t.Context(), &sources.Recording{Name: "moves", Events: of}, timeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Start, got.End = want.Start, want.End; fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || got.Pods != 2 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
