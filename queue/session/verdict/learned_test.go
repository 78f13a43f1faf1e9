package verdict

import (
	"slices"
	"testing"

	"github.com/schedq/schedq/queue/cycle"
)

// TestLearned: of a reason that several plugins may give, it is known whose it is once an attempt of the model was rejected for it.
func TestLearned(t *testing.T) {
	const message = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had something."
	l := Learned{}
	if got, want := l.PluginsOf(message, ""), []string{UnknownPlugin, "NodeResourcesFit"}; !slices.Equal(got, want) {
		t.Errorf("before it is %q, want %q", got, want)
	}
	l.Note([]cycle.Reason{{Plugin: "VolumeBinding", Text: "node(s) had something"}, {Plugin: "NodeResourcesFit", Text: "Insufficient cpu"}})
	if got, want := l.PluginsOf(message, ""), []string{"NodeResourcesFit", "VolumeBinding"}; !slices.Equal(got, want) {
		t.Errorf("then it is %q, want %q", got, want)
	}
	if len(l) != 1 {
		t.Errorf("%v is kept, and a message tells itself whose the other is", l)
	}
}
