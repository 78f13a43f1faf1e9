package workload

import (
	"reflect"
	"testing"
	"time"
)

// A workload is the same for the same seed, its steps are in the order of time, and another seed gives
// another one.
func TestPlanIsTheSameForTheSameSeed(t *testing.T) {
	o := Options{Seed: 7, Nodes: 5, Steps: 500, Duration: time.Minute, Stuck: 3}
	nodes, steps := Plan(o)
	if len(nodes) != 5 || len(steps) != 503 {
		t.Fatalf("%d nodes and %d steps, want 5 and 503", len(nodes), len(steps))
	}
	nodesAgain, stepsAgain := Plan(o)
	if !reflect.DeepEqual(nodes, nodesAgain) || !reflect.DeepEqual(steps, stepsAgain) {
		t.Error("the same seed gives another workload")
	}
	for i := 1; i < len(steps); i++ {
		if steps[i].At < steps[i-1].At || steps[i].At > o.Duration {
			t.Fatalf("step %d is at %v, after one at %v, of %v", i, steps[i].At, steps[i-1].At, o.Duration)
		}
	}
	o.Seed = 8
	if _, other := Plan(o); reflect.DeepEqual(steps, other) {
		t.Error("another seed gives the same workload")
	}
}

// Within some hundreds of steps, everything that can be done is done.
func TestPlanHasEverything(t *testing.T) {
	_, steps := Plan(Options{Seed: 1, Nodes: 5, Steps: 1000, Duration: time.Minute})
	done, shapes := map[reflect.Type]bool{}, map[string]bool{}
	for _, s := range steps {
		done[reflect.TypeOf(s.Do)] = true
		if create, ok := s.Do.(createPod); ok {
			shapes[create.pod.Labels["shape"]] = true
		}
	}
	for _, doing := range []Doing{createPod{}, deletePod{}, openGate{}, labelPod{}, addNode{}, deleteNode{}, cordon{}, taint{}, labelNode{}, createClaim{}, createVolume{}} {
		if !done[reflect.TypeOf(doing)] {
			t.Errorf("no %T", doing)
		}
	}
	for _, shape := range podShapes {
		if !shapes[shape.value] {
			t.Errorf("no pod of the shape %q", shape.value)
		}
	}
}
