//go:build watchonly

package session

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestWatchOnlyWhatIf: a person injects events, which wake by what plugins registered for, and is the scheduler; a local
// one can't take over, and why is said.
func TestWatchOnlyWhatIf(t *testing.T) {
	plugins, err := cycle.InTree()
	if err != nil {
		t.Fatal(err)
	}
	rec := world.SmallRecording()
	rec.Events = append([]sources.Event{{Time: world.At(0), Fact: &sources.ObjectChange{Verb: sources.Added, Object: world.Node("node-a", "1")}}}, rec.Events...)
	o := newOwner(rec, timeline.Options{Paused: true, Plugins: plugins})
	o.show(world.At(11))
	o.injectEvent("PersistentVolumeAdd")
	if p := o.fork.Shown.Get(world.Key("batch-1")); p.Tier != queue.Unschedulable {
		t.Errorf("a volume wakes it: %s", p.Tier)
	}
	o.injectEvent("NodeAdd")
	if p := o.fork.Shown.Get(world.Key("batch-1")); p.Tier != queue.Backoff && p.Tier != queue.Active {
		t.Errorf("a node does not wake it: %s", p.Tier)
	}
	for _, ask := range []func(){o.toggleScheduler, func() { o.addNodeLike("node-a", "") }, func() { o.editNode("node-a", []string{"cordon"}) }} {
		if ask(); !o.said.Refused || !strings.Contains(o.said.Text, "built to watch only") {
			t.Errorf("it says %q", o.said.Text)
		}
	}
}
