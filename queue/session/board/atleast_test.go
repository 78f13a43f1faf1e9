package board_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// TestLowerBoundOfAttempts: a move of a pod whose first attempts are unknown says so in text and in JSON. Attempts that
// only the model made do not count.
func TestLowerBoundOfAttempts(t *testing.T) {
	for _, c := range []struct {
		pod        board.Pod
		text, json string
	}{
		{board.Pod{}, "  5 attempts", `"attempts":5,"plugins"`},
		{board.Pod{AttemptsAtLeast: true}, "  ≥5 attempts", `"attempts":5,"attemptsAtLeast":true`},
		{board.Pod{AttemptsAtLeast: true, Uncounted: 2}, "  ≥3 attempts", `"attempts":3,"attemptsAtLeast":true`},
	} {
		c.pod.UnschedulablePlugins = []string{"NodeAffinity"}
		move := &board.Transition{Transition: queue.Transition{To: queue.InFlight, Attempts: 5}, Pod: &c.pod}
		if text := move.String(); !strings.HasSuffix(text, c.text) {
			t.Errorf("got %q, want ...%q", text, c.text)
		}
		if text, err := json.Marshal(move); err != nil || !strings.Contains(string(text), c.json) {
			t.Errorf("got %s, %v, want ...%s", text, err, c.json)
		}
	}
}
