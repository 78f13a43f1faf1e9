package ring_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
)

// gaps formats the gaps among events, in seconds after noon.
func gaps(events []sources.Event) (all []string) {
	for _, ev := range events {
		if u, ok := ev.Fact.(*sources.WatchGap); ok {
			text := fmt.Sprintf("%v: %s since %v", ev.Time.Sub(noon), u.Resource, u.Since.Sub(noon))
			if !u.Lasts() {
				text += fmt.Sprintf(" until %v", u.Until.Sub(noon))
			}
			all = append(all, text)
		}
	}
	return all
}

// TestWatchGaps: a watch is broken for ten minutes, in which segments and reading begin. Then the recorder is stopped for a
// minute, while another watch is broken.
func TestWatchGaps(t *testing.T) {
	w, folder, bound := newWorld(), t.TempDir(), ring.Bound{Age: 12 * time.Minute}
	out := begin(t, t.Context(), folder, bound, w)
	breaks := func(resource string) (begin sources.Event, end func() sources.Event) {
		gap := sources.Gap{Since: w.now}
		return w.event(&sources.WatchGap{Resource: resource, Gap: gap}), func() sources.Event {
			gap.Until = w.now
			return w.event(&sources.WatchGap{Resource: resource, Gap: gap})
		}
	}
	w.run(out, time.Minute)
	begins, ends := breaks(sources.PodsWatch)
	w.run(out, 10*time.Minute, begins)
	w.run(out, time.Minute, ends())
	begins, _ = breaks(sources.EventsWatch)
	w.run(out, 10*time.Second, begins)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Minute)
	out = begin(t, t.Context(), folder, bound, w)
	w.run(out, 5*time.Second)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	after := []string{"11m0s: pods since 1m0s until 11m0s", "12m0s: events since 12m0s", "12m10s:  since 12m10s",
		"13m10s: events since 12m0s until 13m10s", "13m10s:  since 12m10s until 13m10s"}
	for from, want := range map[time.Duration][]string{
		0:                 append([]string{"1m0s: pods since 1m0s"}, after...),
		5 * time.Minute:   append([]string{"5m0s: pods since 1m0s"}, after...),
		690 * time.Second: after[1:],
	} {
		if got := gaps(read(t, folder, ring.ReadOptions{From: noon.Add(from)}).events); !slices.Equal(got, want) {
			t.Errorf("from %v: %q, want %q", from, got, want)
		}
	}
}

// TestSchedulerEnded: a scheduler shuts down, and ten seconds later another one starts. Only a part that begins in between
// begins without a scheduler.
func TestSchedulerEnded(t *testing.T) {
	w, folder := newWorld(), t.TempDir()
	out := begin(t, t.Context(), folder, ring.Bound{Age: 12 * time.Minute}, w)
	w.run(out, time.Minute)
	w.run(out, 10*time.Second, w.event(&sources.Silent{Since: w.now, Ended: true}))
	w.run(out, 10*time.Minute, w.event(&sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}))
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[time.Duration]int{0: 1, 65 * time.Second: 1, 5 * time.Minute: 0} {
		n := 0
		for _, ev := range read(t, folder, ring.ReadOptions{From: noon.Add(from)}).events {
			if f, ok := ev.Fact.(*sources.Silent); ok {
				n++
				if !f.Ended || !f.Since.Equal(noon.Add(time.Minute)) {
					t.Errorf("from %v: at %v %+v", from, ev.Time.Sub(noon), f)
				}
			}
		}
		if n != want {
			t.Errorf("from %v: %d events, want %d", from, n, want)
		}
	}
}
