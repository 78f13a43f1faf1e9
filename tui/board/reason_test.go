package board

import (
	"testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
)

// TestPluginNames: names that do not fit are counted, in words if the words fit.
func TestPluginNames(t *testing.T) {
	plugins := []string{"NodeAffinity", "NodeResourcesFit", "TaintToleration"}
	for _, c := range []struct {
		width int
		want  string
	}{
		{60, "NodeAffinity NodeResourcesFit TaintToleration"},
		{45, "NodeAffinity NodeResourcesFit TaintToleration"},
		{44, "NodeAffinity NodeResourcesFit and 1 more"},
		{39, "NodeAffinity and 2 more"},
		{22, "NodeAffinity+2"},
		{9, "NodeAf…+2"},
	} {
		if got := PluginNames(plugins, c.width); got != c.want {
			t.Errorf("in %d cells the text is %q, want %q", c.width, got, c.want)
		}
	}
	if got := PluginNames(plugins[:1], 9); got != "NodeAffi…" {
		t.Errorf("one plugin is shown as %q", got)
	}
	if got := PluginNames(nil, 9); got != "—" {
		t.Errorf("no plugin is shown as %q", got)
	}
}

// TestReasonTakes: the reason needs no more cells than reasonTakes returns, and shows the same text
// in them.
func TestReasonTakes(t *testing.T) {
	pod := &board.Pod{}
	pod.Tier, pod.UnschedulablePlugins = queue.Unschedulable, []string{"NodeAffinity", "NodeResourcesFit", "TaintToleration"}
	for w := 9; w < 60; w++ {
		takes := reasonTakes(pod, w)
		if got, want := PluginNames(pod.UnschedulablePlugins, takes), PluginNames(pod.UnschedulablePlugins, w); takes > w || canvas.Width(want) > takes || got != want {
			t.Errorf("of %d cells it takes %d and shows %q, want %q", w, takes, got, want)
		}
	}
}
