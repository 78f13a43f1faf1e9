package story

import (
	"slices"
	"testing"

	"github.com/schedq/schedq/tui/theme"
)

// TestContinuedLinesAreTold: what goes on from the line before is indented deeper than that, and so looks like no entry of its
// own.
func TestContinuedLinesAreTold(t *testing.T) {
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
