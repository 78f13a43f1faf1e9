package explain_test

import (
	"testing"

	"github.com/schedq/schedq/queue/session/explain"
)

// TestPostFilter checks that only DefaultPreemption's words are called preemption.
func TestPostFilter(t *testing.T) {
	for rest, want := range map[string]string{
		"":          "",
		"not found": "PostFilter: not found",
		"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.": "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
	} {
		if got := explain.PostFilter(rest); got != want {
			t.Errorf("%q becomes %q, want %q", rest, got, want)
		}
	}
}
