package ring_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
)

// TestClocks: the clocks are known wherever reading begins, also after the recorder was stopped.
func TestClocks(t *testing.T) {
	w, folder, bound := newWorld(), t.TempDir(), ring.Bound{Age: 12 * time.Minute}
	out := begin(t, t.Context(), folder, bound, w)
	found := func(ahead time.Duration) sources.Event { return w.event(&sources.Clocks{Ahead: ahead}) }
	w.run(out, time.Minute)
	w.run(out, 5*time.Minute, found(380*time.Millisecond))
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Minute)
	out = begin(t, t.Context(), folder, bound, w)
	w.run(out, time.Minute)
	w.run(out, time.Minute, found(-20*time.Millisecond))
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[time.Duration][]string{
		0:               {"1m0s: 380ms", "8m0s: -20ms"},
		4 * time.Minute: {"4m0s: 380ms", "8m0s: -20ms"},
		8 * time.Minute: {"8m0s: -20ms"},
	} {
		var got []string
		for _, ev := range read(t, folder, ring.ReadOptions{From: noon.Add(from)}).events {
			if c, is := ev.Fact.(*sources.Clocks); is {
				got = append(got, fmt.Sprintf("%v: %v", ev.Time.Sub(noon), c.Ahead))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("from %v the clocks are %q, want %q", from, got, want)
		}
	}
}
