package timeline

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
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
	pod := world.PendingPod("web", "4")
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

// TestVictimGoesByOthers: a person deletes a victim of a what-if while its containers are being stopped, and another pod gets its name.
// That one stays when they would have stopped.
func TestVictimGoesByOthers(t *testing.T) {
	var w world.Cluster
	world.Change(&w, 1, sources.Added, world.Node("node-a", "1"), nil)
	low := world.Change(&w, 1, sources.Added, world.PendingPod("low", "1"), func(p *v1.Pod) { p.Spec.NodeName, p.Spec.Priority = "node-a", new(int32) })
	line := New(w.Recording(2), world.Config(t), nil)
	line.GoTo(line.End)
	now := world.At(2)
	fork := line.Fork(now)
	fork.Inject(now, func(e *Engine) {
		if err := e.StartScheduler(now, &Spare{}); err != nil {
			t.Fatal(err)
		}
		high := world.PendingPod("high", "1")
		high.Spec.Priority = new(int32)
		*high.Spec.Priority = 100
		e.PutObject(now, high)
	})
	ends := now.Add(500 * time.Millisecond)
	fork.GoTo(ends)
	fork.Inject(ends, func(e *Engine) {
		if len(e.Driver.Dying) != 1 {
			t.Fatalf("%d victims are ending", len(e.Driver.Dying))
		}
		e.RemoveObject(ends, low)
		second := world.PendingPod("low", "100m")
		second.UID = "second"
		e.PutObject(ends, second)
	})
	later := now.Add(5 * time.Second)
	fork.GoTo(later)
	fork.Inject(later, func(e *Engine) {
		if pod := e.Objects.Pod(world.Key("low")); len(e.Driver.Dying) != 0 || pod == nil || pod.UID != "second" {
			t.Errorf("%d victims are still ending, and the other pod is %v", len(e.Driver.Dying), pod)
		}
	})
}
