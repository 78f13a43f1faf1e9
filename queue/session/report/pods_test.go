package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestReusedPodName: pods with the same name count as one pod in a report, even after the first was reduced to a finishedPod:
// then its event and rejecting plugins still count, and its waiting time does not.
func TestReusedPodName(t *testing.T) {
	var moves []sources.Event
	add := func(at float64, pod string, to sources.Tier, event string) {
		moves = append(moves, world.Move(at, pod, to, event))
	}
	for i := range 6 {
		add(float64(i), fmt.Sprint("other-", i), sources.TierActive, "UnscheduledPodAdd")
		add(float64(10+2*i), fmt.Sprint("other-", i), "deleted", "")
	}
	add(30, "web-0", sources.TierActive, "UnscheduledPodAdd")
	add(31, "web-0", sources.TierInFlight, "")
	add(32, "web-0", sources.TierUnschedulable, queue.ScheduleAttemptFailure)
	add(52, "web-0", sources.TierActive, "AssignedPodDelete")
	add(53, "web-0", "deleted", "")
	add(60, "web-0", sources.TierActive, "UnscheduledPodAdd")
	add(61, "web-0", sources.TierInFlight, "")
	add(62, "web-0", "scheduled", "")
	add(70, "web-0", "deleted", "")
	add(80, "web-0", sources.TierActive, "UnscheduledPodAdd")
	add(81, "web-0", sources.TierInFlight, "")
	add(82, "web-0", sources.TierUnschedulable, queue.ScheduleAttemptFailure)
	add(83, "web-0", "deleted", "")
	for _, c := range []struct {
		moves  int
		filter string
		want   string
	}{
		{17, "", "7 pods; NodeResourcesFit 1 in 1; AssignedPodDelete helped 0; web-0 23s, other-5 15s, other-4 14s, other-3 13s, other-2 12s"},
		{18, "", "7 pods; NodeResourcesFit 1 in 1; AssignedPodDelete helped 0; other-5 15s, other-4 14s, other-3 13s, other-2 12s, other-1 11s"},
		{20, "", "7 pods; NodeResourcesFit 1 in 1; AssignedPodDelete helped 1; other-5 15s, other-4 14s, other-3 13s, other-2 12s, other-1 11s"},
		{25, "", "7 pods; NodeResourcesFit 2 in 1; AssignedPodDelete helped 1; other-5 15s, other-4 14s, other-3 13s, other-2 12s, other-1 11s"},
		{25, "web", "1 pods; NodeResourcesFit 2 in 1; AssignedPodDelete helped 1; web-0 3s"},
		{25, "tier:bound", "1 pods; NodeResourcesFit 2 in 1; AssignedPodDelete helped 1; web-0 3s"},
		{17, "tier:bound", "0 pods"},
	} {
		f, err := filter.Parse(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Summarize(t.Context(), world.RecordingOf(moves[:c.moves]...), timeline.Options{Filter: f})
		if err != nil {
			t.Fatal(err)
		}
		if got := brief(r); got != c.want {
			t.Errorf("%d moves, filter %q:\n%s, want\n%s", c.moves, c.filter, got, c.want)
		}
	}
}

// TestPodsThatLeft: a pod that left is reduced to a finishedPod, also if it returns and leaves again.
func TestPodsThatLeft(t *testing.T) {
	const stretches = 3
	rec := long(2*stretches, func(nth int) []sources.Event {
		events := loggedStretch(nth % stretches)
		for i := range events {
			events[i].Time = events[i].Time.Add(time.Duration(nth-nth%stretches) * time.Hour)
		}
		return append(events, world.Move(float64(nth)*3600+2000, "stays", sources.TierActive, "UnscheduledPodAdd"))
	})
	r := newReporter(rec)
	if err := timeline.Replay(t.Context(), rec, timeline.Options{}, r.add); err != nil {
		t.Fatal(err)
	}
	if pods := stretches*loggedPods + 1; len(r.pods) != 1 || r.names.count() != pods || len(r.finished) > pods {
		t.Errorf("%d full pods, %d names, %d finished pods; want one, and at most %d", len(r.pods), r.names.count(), len(r.finished), pods)
	}
}

// brief formats part of a report in a line.
func brief(r *Report) string {
	parts := []string{fmt.Sprint(r.Pods, " pods")}
	for _, p := range r.Plugins {
		parts = append(parts, fmt.Sprintf("%s %d in %d", p.Plugin, p.Attempts, p.Pods))
	}
	for _, w := range r.Wakes {
		parts = append(parts, fmt.Sprintf("%s helped %d", w.Event, w.Helped))
	}
	var longest []string
	for _, l := range r.Longest {
		longest = append(longest, fmt.Sprintf("%s %.0fs", strings.TrimPrefix(string(l.Pod), "default/"), float64(l.Waited)/1e9))
	}
	if len(longest) > 0 {
		parts = append(parts, strings.Join(longest, ", "))
	}
	return strings.Join(parts, "; ")
}
