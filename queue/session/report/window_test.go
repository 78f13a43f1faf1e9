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

// TestWindowSize: the state of a comparison does not grow with the length of the runs.
func TestWindowSize(t *testing.T) {
	most := func(stretches int) (kept [5]int) {
		rec := long(stretches, loggedStretch)
		v := verifying{end: momentOf(world.At(1e6)), first: never, differences: differences{most: 3}}
		v.window.onUnmatched = v.onUnmatched
		err := sideBySide(t.Context(), [2]runSpec{{rec: rec}, {rec: rec}}, func(by side, m *board.Transition) error {
			if by == got && m.To == queue.InFlight {
				return nil // missing in the model
			}
			err := v.add(by, m)
			w := &v.window
			for i, n := range []int{len(w.pods), len(w.left), len(w.unmatched), len(w.recent[want]) + len(w.recent[got]), len(v.named)} {
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
		t.Errorf("at most %v pods, pods that left, unmatched moves, recent moves and differences are kept, and %v for a longer run", few, many)
	}
}

// TestVerifyDropsPods: a pod that left more than a minute ago is dropped, unless it has returned.
func TestVerifyDropsPods(t *testing.T) {
	gone := []sources.Event{aArrives, aPops, aFails, world.Move(14, "a", "deleted", "")}
	lived := append(slices.Clone(gone), world.Move(30, "a", "active", "UnscheduledPodAdd"), world.Move(40, "a", "deleted", ""))
	for _, c := range []struct {
		before []sources.Event
		again  float64
		want   string
	}{{gone, 20, "deleted"}, {gone, 73, "deleted"}, {gone, 75, ""}, {lived, 99, "deleted"}, {lived, 101, ""}} {
		both := append(slices.Clone(c.before), world.Move(c.again-1, "b", "active", "UnscheduledPodAdd"))
		truth := append(slices.Clone(both), world.Move(c.again, "a", "active", "UnscheduledPodAdd"))
		v, err := Verify(t.Context(), world.RecordingOf(both...), world.RecordingOf(truth...), timeline.Options{}, math.MaxInt)
		if err != nil || len(v.Differences) != 1 || v.Differences[0].ModelTier != c.want {
			t.Errorf("at %g s it is %+v, %v, want that it is in %q", c.again, v.Differences, err, c.want)
		}
	}
}

// TestCompareReusedNames: of the pods with one name, the last of each run counts.
func TestCompareReusedNames(t *testing.T) {
	life := func(at, waits float64) []sources.Event {
		return []sources.Event{
			world.Move(at, "a", "active", "UnscheduledPodAdd"), world.Move(at+waits, "a", "inflight", ""), world.Move(at+waits, "a", "scheduled", ""),
		}
	}
	for _, c := range []struct {
		one, other [2]float64 // how long the two pods wait; 0 for no pod
		differs    string
	}{
		{[2]float64{1, 5}, [2]float64{1, 5}, ""},
		{[2]float64{1, 5}, [2]float64{9, 5}, ""},
		{[2]float64{1, 5}, [2]float64{1, 9}, "[{default/a {1 false scheduled 5000000000} {1 false scheduled 9000000000}}]"},
		{[2]float64{1, 5}, [2]float64{5, 1}, "[{default/a {1 false scheduled 5000000000} {1 false scheduled 1000000000}}]"},
		{[2]float64{1, 5}, [2]float64{1, 0}, "[{default/a {1 false scheduled 5000000000} {1 false scheduled 1000000000}}]"},
	} {
		run := func(waits [2]float64) runSpec {
			events := life(10, waits[0])
			if waits[1] > 0 {
				events = append(events, life(200, waits[1])...)
			}
			return runSpec{rec: world.RecordingOf(events...)}
		}
		got, err := compare(t.Context(), [2]runSpec{run(c.one), run(c.other)})
		if err != nil {
			t.Fatal(err)
		}
		if differs := fmt.Sprint(got.Pods); len(got.Pods) > 0 && differs != c.differs || len(got.Pods) == 0 && c.differs != "" {
			t.Errorf("%v and %v: different are %s, want %s", c.one, c.other, differs, c.differs)
		}
	}
}

// TestSideBySideEnds: an error in one run is returned, and both runs stop.
func TestSideBySideEnds(t *testing.T) {
	torn := errors.New("torn")
	for _, bad := range []side{want, got} {
		ended := 0
		run := func(err error) runSpec {
			rec := long(3, loggedStretch)
			all := rec.Reread
			rec.Reread = func(ctx context.Context) iter.Seq2[sources.Event, error] {
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
			return runSpec{rec: rec}
		}
		runs := [2]runSpec{run(nil), run(nil)}
		runs[bad] = run(torn)
		if _, err := compare(t.Context(), runs); !errors.Is(err, torn) || ended != 2 {
			t.Errorf("got %v, and %d of 2 have ended", err, ended)
		}
	}
}
