package timeline

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestPodDeletedBeforeItsPatch: a pod that the user deletes while a what-if's scheduler waits for the response to its patch
// stays deleted.
func TestPodDeletedBeforeItsPatch(t *testing.T) {
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
	deleted := now.Add(3 * time.Millisecond)
	fork.GoTo(deleted)
	fork.Inject(deleted, func(e *Engine) {
		if e.Driver.AwaitedPatch == nil {
			t.Error("the scheduler waits for no patch")
		}
		e.RemoveObject(deleted, pod)
	})
	fork.GoTo(now.Add(time.Second))
	fork.Inject(now.Add(time.Second), func(e *Engine) {
		if e.Objects.Pod(world.Key("web")) != nil {
			t.Error("the pod exists again")
		}
	})
}

// TestVictimDeletedByUser: the user deletes a preempted pod of a what-if while it terminates, and creates another with its
// name, which stays when the first would have terminated.
func TestVictimDeletedByUser(t *testing.T) {
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
	deleted := now.Add(500 * time.Millisecond)
	fork.GoTo(deleted)
	fork.Inject(deleted, func(e *Engine) {
		if len(e.Driver.Dying) != 1 {
			t.Fatalf("%d victims are terminating", len(e.Driver.Dying))
		}
		e.RemoveObject(deleted, low)
		second := world.PendingPod("low", "100m")
		second.UID = "second"
		e.PutObject(deleted, second)
	})
	later := now.Add(5 * time.Second)
	fork.GoTo(later)
	fork.Inject(later, func(e *Engine) {
		if pod := e.Objects.Pod(world.Key("low")); len(e.Driver.Dying) != 0 || pod == nil || pod.UID != "second" {
			t.Errorf("%d victims are terminating, and the second pod is %v", len(e.Driver.Dying), pod)
		}
	})
}
