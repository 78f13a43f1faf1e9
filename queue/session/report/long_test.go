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

// long returns a recording that is not kept, of so many stretches with pods of their own.
func long(stretches int, stretch func(nth int) []sources.Event) *sources.Recording {
	gist := cluster.NewGist()
	for nth := range stretches {
		for _, ev := range stretch(nth) {
			gist.Add(ev)
		}
	}
	return &sources.Recording{Name: "long", Gist: gist.Events(), Again: func(context.Context) iter.Seq2[sources.Event, error] {
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

// Of a stretch with moves that are told. There are as many as between two measurements, so that all are of the same moment of a stretch.
const (
	toldPods    = 250
	movesPerPod = 4
)

// toldStretch are the moves of pods that come, fail and are deleted. Much is said of each failed attempt. Half an hour later others come.
func toldStretch(nth int) (events []sources.Event) {
	at := float64(nth) * 2400
	for i := range toldPods {
		tell := func(to sources.Tier, event string) *sources.Move {
			ev := world.Told(at, fmt.Sprintf("p-%d-%d", nth, i), to, event)
			events, at = append(events, ev), at+0.5
			return ev.Fact.(*sources.Move)
		}
		tell(sources.TierActive, "UnscheduledPodAdd")
		tell(sources.TierInFlight, "")
		tell(sources.TierUnschedulable, "ScheduleAttemptFailure").Message = sources.SafeText(strings.Repeat("x", 4<<10))
		tell("deleted", "")
	}
	return events
}

// growth is by how many bytes more is live near the end of more stretches, for each thing of which a stretch has so many.
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

// TestLongIsNotKept: what is summed up of a long recording holds little of each move, and nothing of what was said of it.
func TestLongIsNotKept(t *testing.T) {
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
	// Of a stay 2 or 3 bytes are kept, of a pod that left its name and some 60, and a pod has four moves here. A move that a filter may still
	// select takes 8. Verify keeps nothing of a pod that is gone, not even its name; what is run again has two reports, and 300 bytes of each pod.
	// A list that grows has room for more.
	for name, c := range map[string]struct {
		most float64
		ask  func(*sources.Recording, func(float64)) error
	}{
		"report":              {40, report(timeline.Options{})},
		"report, of all pods": {40, report(selects("attempts>=0"))},
		"report, of none":     {60, report(selects("attempts>100"))},
		"verify": {2, func(rec *sources.Recording, progress func(float64)) error {
			_, err := Verify(t.Context(), rec, rec, timeline.Options{Progress: progress}, 10)
			return err
		}},
		"compare": {150, func(rec *sources.Recording, progress func(float64)) error {
			_, err := compare(t.Context(), [2]played{{rec: rec}, {rec, timeline.Options{Progress: progress}}})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if grows := growth(t, toldStretch, toldPods*movesPerPod, c.ask); grows > c.most {
				t.Errorf("of each move %.1f bytes are kept, want at most %.0f", grows, c.most)
			}
		})
	}
}

// TestLongRerunIsNotKept: of pods that were there is kept what came of them, and not what they were.
func TestLongRerunIsNotKept(t *testing.T) {
	const pods, large = 200, 16 << 10
	stretch := func(nth int) []sources.Event {
		var c world.Cluster
		at := float64(nth) * 2400
		if nth == 0 {
			world.Happens(&c, 0, sources.Added, world.Node("node", "64"), nil)
		}
		for i := range pods {
			pod := world.Wants(fmt.Sprintf("p-%d-%d", nth, i), "100m")
			pod.Labels = map[string]string{"large": strings.Repeat("x", large)}
			world.Happens(&c, at+1+float64(i), sources.Added, pod, nil)
			world.Happens(&c, at+1.5+float64(i), sources.Deleted, pod, func(p *v1.Pod) { p.Spec.NodeName = "node" })
		}
		return c.Events
	}
	grows := growth(t, stretch, pods, func(rec *sources.Recording, progress func(float64)) error {
		_, err := Compare(t.Context(), rec, timeline.Options{Release: "v1.37"}, timeline.Options{Release: "v1.24", Progress: progress})
		return err
	})
	if grows > large/2 { // in one of two runs; the last measurements are not of the same moment of a stretch
		t.Errorf("of each pod %.0f bytes are kept, of %d", grows, large)
	}
}
