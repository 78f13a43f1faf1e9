//go:build !watchonly

package timeline

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/world"
)

// TestPodGoesBeforeItsPatch: a pod that a person deletes while the scheduler of a what-if waits for the answer to its patch stays
// deleted.
func TestPodGoesBeforeItsPatch(t *testing.T) {
	var w world.Cluster
	w.Small()
	line := New(w.Recording(2), world.Config(t), nil)
	line.GoTo(line.End)
	now := world.At(2)
	fork := line.Fork(now)
	pod := world.Wants("web", "4")
	fork.Inject(now, func(e *Engine) {
		if err := e.StartScheduler(now, &Spare{}); err != nil {
			t.Fatal(err)
		}
		e.PutObject(now, pod)
	})
	goes := now.Add(3 * time.Millisecond)
	fork.GoTo(goes)
	fork.Inject(goes, func(e *Engine) {
		if e.Driver.AwaitedPatch == nil {
			t.Error("no patch is under way")
		}
		e.RemoveObject(goes, pod)
	})
	fork.GoTo(now.Add(time.Second))
	fork.Inject(now.Add(time.Second), func(e *Engine) {
		if e.Objects.Pod(world.Key("web")) != nil {
			t.Error("it is back")
		}
	})
}
