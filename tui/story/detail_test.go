package story

import (
	"slices"
	"testing"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/theme"
)

// TestContinuedLinesAreIndented: continued lines are indented deeper, so they don't look like new
// entries.
func TestContinuedLinesAreIndented(t *testing.T) {
	var got []string
	for _, text := range []string{"Nearest, and what they lack:", "  node-a  NodeResourcesFit: needs 6 cpu", "  node-b  fits"} {
		for _, line := range Wrap(nil, 24, theme.Plain, text) {
			got = append(got, line.Text)
		}
	}
	want := []string{"Nearest, and what they", "  lack:", "  node-a ", "    NodeResourcesFit:", "    needs 6 cpu", "  node-b  fits"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPreemptionMessage: the result of preemption is shown below the reasons, and empty results are
// omitted.
func TestPreemptionMessage(t *testing.T) {
	for message, want := range map[string]string{
		"0/3 nodes are available: 3 Insufficient cpu. not found":                                                                        "  3 Insufficient cpu (NodeResourcesFit)",
		"0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.": "  Preemption: it would not help on any node.",
	} {
		p := &board.Pod{}
		p.Message, p.UnschedulableCount = sources.Sanitize(message), 1
		lines := Detail{zoomed: true}.verdict(nil, p, 100)
		if got := lines[len(lines)-1].Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
