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

// TestAhead: Ahead yields all events in order, up to an error.
func TestAhead(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 1, batchLen - 1, batchLen, batchLen + 1, 10*batchLen + 7} {
		for _, want := range []error{nil, broken} {
			ended, seen := false, 0
			var failed error
			for ev, err := range Ahead(t.Context(), numbered(n, want, &ended)) {
				if err != nil {
					failed = err
					continue
				}
				if ev.Time.Unix() != int64(seen) {
					t.Fatalf("%d events: event %d is at second %d", n, seen, ev.Time.Unix())
				}
				seen++
			}
			if seen != n || failed != want || !ended {
				t.Errorf("%d events and %v: %d, %v, ended %v", n, want, seen, failed, ended)
			}
		}
	}
}

// TestAheadStops: stopping the iteration ends the goroutine.
func TestAheadStops(t *testing.T) {
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
