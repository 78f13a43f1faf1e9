package sources

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"
)

// numbered yields n events, a second apart, and then err if there is one. Once it has ended, it says so.
func numbered(n int, err error, ended *bool) func(context.Context) iter.Seq2[Event, error] {
	return func(context.Context) iter.Seq2[Event, error] {
		return func(yield func(Event, error) bool) {
			defer func() { *ended = true }()
			for i := range n {
				if !yield(Event{Time: time.Unix(int64(i), 0)}, nil) {
					return
				}
			}
			if err != nil {
				yield(Event{}, err)
			}
		}
	}
}

// TestAhead: what is read ahead is what there is, in its order, up to what goes wrong.
func TestAhead(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 1, mostEvents - 1, mostEvents, mostEvents + 1, 10*mostEvents + 7} {
		for _, want := range []error{nil, broken} {
			ended, seen := false, 0
			var failed error
			for ev, err := range Ahead(t.Context(), numbered(n, want, &ended)) {
				if err != nil {
					failed = err
					continue
				}
				if ev.Time.Unix() != int64(seen) {
					t.Fatalf("of %d events, event %d is that of second %d", n, seen, ev.Time.Unix())
				}
				seen++
			}
			if seen != n || failed != want || !ended {
				t.Errorf("of %d events and %v: %d, %v, ended %v", n, want, seen, failed, ended)
			}
		}
	}
}

// TestAheadIsLeft: who stops in the midst of it leaves no goroutine behind, however much there is to read.
func TestAheadIsLeft(t *testing.T) {
	ended, seen := false, 0
	for range Ahead(t.Context(), numbered(1_000_000, nil, &ended)) {
		if seen++; seen == 3 {
			break
		}
	}
	if !ended {
		t.Error("it is still being read")
	}
}
