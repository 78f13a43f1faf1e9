package report

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestWindowForgets: of two runs nothing is kept that grows with their length: no move, no pod, and no more differences than are asked for.
func TestWindowForgets(t *testing.T) {
	most := func(stretches int) (kept [5]int) {
		rec := long(stretches, toldStretch)
		v := verifying{end: momentOf(world.At(1e6)), first: never, differences: differences{most: 3}}
		v.window.onAlone = v.alone
		err := sideBySide(t.Context(), [2]played{{rec: rec}, {rec: rec}}, func(by side, m *board.Transition) error {
			if by == got && m.To == queue.InFlight {
				return nil // the model does not have it
			}
			err := v.add(by, m)
			w := &v.window
			for i, n := range []int{len(w.pods), len(w.left), len(w.alone), len(w.recent[want]) + len(w.recent[got]), len(v.named)} {
				kept[i] = max(kept[i], n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	few, many := most(2), most(8)
	if few != many || slices.Contains(few[:], 0) {
		t.Errorf("of pods, of those that left, of moves without a match, of recent ones and of differences %v are kept at most, and %v of a longer one", few, many)
	}
}

// TestVerifyForgets: a pod that left more than a minute ago is not known any more.
func TestVerifyForgets(t *testing.T) {
	gone := world.Told(14, "a", "deleted", "")
	for again, want := range map[float64]string{20: "deleted", 73: "deleted", 75: ""} {
		model := world.ToldBy(aComes, aPops, aFails, gone, world.Told(again-1, "b", "active", "UnscheduledPodAdd"))
		truth := world.ToldBy(aComes, aPops, aFails, gone, world.Told(again-1, "b", "active", "UnscheduledPodAdd"), world.Told(again, "a", "active", "UnscheduledPodAdd"))
		v, err := Verify(t.Context(), model, truth, timeline.Options{}, math.MaxInt)
		if err != nil || len(v.Differences) != 1 || v.Differences[0].ModelTier != want {
			t.Errorf("after %g s it is %+v, %v, want that it is in %q", again, v.Differences, err, want)
		}
	}
}

// TestCompareForgets: of the pods that came under one name, more than a minute after each other, the last counts.
func TestCompareForgets(t *testing.T) {
	life := func(at, waits float64) []sources.Event {
		return []sources.Event{
			world.Told(at, "a", "active", "UnscheduledPodAdd"), world.Told(at+waits, "a", "inflight", ""), world.Told(at+waits, "a", "scheduled", ""),
		}
	}
	for _, c := range []struct {
		one, other [2]float64 // for how long both pods wait
		differs    string
	}{
		{[2]float64{1, 5}, [2]float64{1, 5}, ""},
		{[2]float64{1, 5}, [2]float64{9, 5}, ""},
		{[2]float64{1, 5}, [2]float64{1, 9}, "[{default/a {1 scheduled 5000000000} {1 scheduled 9000000000}}]"},
		{[2]float64{1, 5}, [2]float64{5, 1}, "[{default/a {1 scheduled 5000000000} {1 scheduled 1000000000}}]"},
	} {
		run := func(waits [2]float64) played {
			return played{rec: world.ToldBy(slices.Concat(life(10, waits[0]), life(200, waits[1]))...)}
		}
		got, err := compare(t.Context(), [2]played{run(c.one), run(c.other)})
		if err != nil {
			t.Fatal(err)
		}
		if differs := fmt.Sprint(got.Pods); len(got.Pods) > 0 && differs != c.differs || len(got.Pods) == 0 && c.differs != "" {
			t.Errorf("%v and %v: %s came out differently, want %s", c.one, c.other, differs, c.differs)
		}
	}
}

// TestSideBySideEnds: what goes wrong in one run is told, and neither is played on.
func TestSideBySideEnds(t *testing.T) {
	torn := errors.New("torn")
	for _, bad := range []side{want, got} {
		ended := 0
		run := func(err error) played {
			rec := long(3, toldStretch)
			all := rec.Again
			rec.Again = func(ctx context.Context) iter.Seq2[sources.Event, error] {
				return func(yield func(sources.Event, error) bool) {
					defer func() { ended++ }()
					n := 0
					for ev := range all(ctx) {
						if n++; n == 1200 && err != nil {
							yield(sources.Event{}, err)
							return
						}
						if !yield(ev, nil) {
							return
						}
					}
				}
			}
			return played{rec: rec}
		}
		runs := [2]played{run(nil), run(nil)}
		runs[bad] = run(torn)
		if _, err := compare(t.Context(), runs); !errors.Is(err, torn) || ended != 2 {
			t.Errorf("it says %v, and %d of 2 have ended", err, ended)
		}
	}
}
