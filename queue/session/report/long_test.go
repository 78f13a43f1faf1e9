package report

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// long returns a recording that is not in memory, of stretches that each have their own pods.
func long(stretches int, stretch func(nth int) []sources.Event) *sources.Recording {
	summary := cluster.NewSummary()
	for nth := range stretches {
		for _, ev := range stretch(nth) {
			summary.Add(ev)
		}
	}
	return &sources.Recording{Name: "long", Events: summary.Events(), Reread: func(context.Context) iter.Seq2[sources.Event, error] {
		return func(yield func(sources.Event, error) bool) {
			for nth := range stretches {
				for _, ev := range stretch(nth) {
					if !yield(ev, nil) {
						return
					}
				}
			}
		}
	}}
}

// Moves of a stretch: as many as between two measurements, so that all measurements are at the same point.
const (
	loggedPods  = 250
	movesPerPod = 4
)

// loggedStretch returns half an hour of moves of pods that are created, fail with long messages and are deleted.
func loggedStretch(nth int) (events []sources.Event) {
	at := float64(nth) * 2400
	for i := range loggedPods {
		add := func(to sources.Tier, event string) *sources.Move {
			ev := world.Move(at, fmt.Sprintf("p-%d-%d", nth, i), to, event)
			events, at = append(events, ev), at+0.5
			return ev.Fact.(*sources.Move)
		}
		add(sources.TierActive, "UnscheduledPodAdd")
		add(sources.TierInFlight, "")
		add(sources.TierUnschedulable, "ScheduleAttemptFailure").Message = sources.SafeText(strings.Repeat("x", 4<<10))
		add("deleted", "")
	}
	return events
}

// growth returns the additional live bytes near the end of more stretches, per item of which a stretch has
// count.
func growth(t *testing.T, stretch func(int) []sources.Event, count int, ask func(*sources.Recording, func(float64)) error) float64 {
	const few, many = 3, 9
	measured := func(stretches int) float64 {
		var m runtime.MemStats
		if err := ask(long(stretches, stretch), func(float64) {
			runtime.GC()
			runtime.ReadMemStats(&m)
		}); err != nil {
			t.Fatal(err)
		}
		return float64(m.HeapAlloc)
	}
	less := measured(few)
	grows := (measured(many) - less) / float64((many-few)*count)
	t.Logf("%.1f bytes", grows)
	return grows
}

// TestLongRecordingsTakeLittleMemory: an analysis of a long recording keeps few bytes per move, and no messages.
func TestLongRecordingsTakeLittleMemory(t *testing.T) {
	selects := func(text string) timeline.Options {
		f, err := filter.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return timeline.Options{Filter: f}
	}
	report := func(opts timeline.Options) func(*sources.Recording, func(float64)) error {
		return func(rec *sources.Recording, progress func(float64)) error {
			opts.Progress = progress
			_, err := Summarize(t.Context(), rec, opts)
			return err
		}
	}
	// A stay takes 2 or 3 bytes, a pod that left its name and some 60 more, and a pod has four moves here. A
	// move that a filter may still select takes 8. Verify keeps nothing of a pod that is gone; a comparison
	// has two reports and 300 bytes per pod. Growing slices have spare capacity.
	for name, c := range map[string]struct {
		most float64
		ask  func(*sources.Recording, func(float64)) error
	}{
		"report":             {40, report(timeline.Options{})},
		"report on all pods": {40, report(selects("attempts>=0"))},
		"report on no pods":  {60, report(selects("attempts>100"))},
		"verify": {2, func(rec *sources.Recording, progress func(float64)) error {
			_, err := Verify(t.Context(), rec, rec, timeline.Options{Progress: progress}, 10)
			return err
		}},
		"compare": {150, func(rec *sources.Recording, progress func(float64)) error {
			_, err := compare(t.Context(), [2]runSpec{{rec: rec}, {rec: rec, opts: timeline.Options{Progress: progress}}})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if grows := growth(t, loggedStretch, loggedPods*movesPerPod, c.ask); grows > c.most {
				t.Errorf("%.1f bytes are kept per move, want at most %.0f", grows, c.most)
			}
		})
	}
}

// TestLongRerunsTakeLittleMemory: a comparison keeps the outcomes of pods, but not the pods.
func TestLongRerunsTakeLittleMemory(t *testing.T) {
	const pods, large = 200, 16 << 10
	stretch := func(nth int) []sources.Event {
		var c world.Cluster
		at := float64(nth) * 2400
		if nth == 0 {
			world.Change(&c, 0, sources.Added, world.Node("node", "64"), nil)
		}
		for i := range pods {
			pod := world.PendingPod(fmt.Sprintf("p-%d-%d", nth, i), "100m")
			pod.Labels = map[string]string{"large": strings.Repeat("x", large)}
			world.Change(&c, at+1+float64(i), sources.Added, pod, nil)
			world.Change(&c, at+1.5+float64(i), sources.Deleted, pod, func(p *v1.Pod) { p.Spec.NodeName = "node" })
		}
		return c.Events
	}
	grows := growth(t, stretch, pods, func(rec *sources.Recording, progress func(float64)) error {
		_, err := Compare(t.Context(), rec, timeline.Options{Release: "v1.37"}, timeline.Options{Release: "v1.24", Progress: progress})
		return err
	})
	if grows > large/2 { // one of two runs; the last measurements are at different points of a stretch
		t.Errorf("%.0f bytes are kept per pod of %d", grows, large)
	}
}
