package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// TestSecondsAreBounded: for two days a pod is popped each second, and returns by one of two events. The
// seconds of the last half day have a tally each, older seconds share tallies, and all attempts and arrivals
// are counted.
func TestSecondsAreBounded(t *testing.T) {
	h, start := New(), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	events := []string{"NodeAdd", "BackoffComplete"}
	const seconds = 2 * 24 * 3600
	for i := range seconds {
		now := start.Add(time.Duration(i) * time.Second)
		h.Append(board.Change{At: now, Move: &board.Transition{Transition: queue.Transition{Event: events[i%2], From: queue.InFlight, To: queue.Active}}})
		h.Append(board.Change{At: now.Add(time.Millisecond), Move: &board.Transition{Transition: queue.Transition{From: queue.Active, To: queue.InFlight}}})
	}
	h.SetCursor(h.ChangeCount())
	now := start.Add(seconds * time.Second)
	s := h.Series(now)
	if s.Len() > maxTallies+1 || s.Len() < maxTallies/2 {
		t.Errorf("%d tallies", s.Len())
	}
	attempts, arrived, last := 0, map[string]int{}, start
	for i := range s.Len() {
		tally := s.At(i)
		if !tally.End.After(last) || tally.End.After(now.Add(-12*time.Hour)) && tally.End.Sub(last) != time.Second {
			t.Fatalf("tally %d ends at %s, the one before at %s", i, tally.End, last)
		}
		last = tally.End
		attempts += int(tally.Attempts)
		for _, a := range tally.Arrivals {
			arrived[a.Event] += int(a.Pods)
		}
	}
	if got, want := fmt.Sprint(attempts, arrived), fmt.Sprintf("%d map[BackoffComplete:%d NodeAdd:%[2]d]", seconds, seconds/2); got != want {
		t.Errorf("the tallies contain %s, want %s", got, want)
	}
}
