package workload

import (
	"reflect"
	"testing"
	"time"
)

// A plan depends only on its seed, and is sorted by time.
func TestPlanIsReproducible(t *testing.T) {
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

// A plan of some hundred steps contains every action and every kind of pod.
func TestPlanContainsAllActions(t *testing.T) {
	_, steps := Plan(Options{Seed: 1, Nodes: 5, Steps: 1000, Duration: time.Minute})
	done, shapes := map[reflect.Type]bool{}, map[string]bool{}
	for _, s := range steps {
		done[reflect.TypeOf(s.Do)] = true
		if create, ok := s.Do.(createPod); ok {
			shapes[create.pod.Labels["shape"]] = true
		}
	}
	for _, action := range []Action{createPod{}, deletePod{}, openGate{}, labelPod{}, addNode{}, deleteNode{}, cordon{}, taint{}, labelNode{}, createClaim{}, createVolume{}} {
		if !done[reflect.TypeOf(action)] {
			t.Errorf("no %T", action)
		}
	}
	for _, shape := range podShapes {
		if !shapes[shape.value] {
			t.Errorf("no pod of the shape %q", shape.value)
		}
	}
}

// A field workload contains the steps of the random one unchanged, and all kinds of additional ones.
func TestFieldExtendsRandomPlan(t *testing.T) {
	o := Options{Seed: 7, Nodes: 5, Steps: 300, Duration: time.Minute, Stuck: 3}
	_, random := Plan(o)
	o.Field, o.Devices = true, true
	_, field := Plan(o)
	next, jobs, train, disks, foreign := 0, 0, 0, 0, 0
	crowds := map[int]int{} // of how many pods, how many
	for i, s := range field {
		if i > 0 && s.At < field[i-1].At || s.At > o.Duration {
			t.Fatalf("step %d is at %v, after one at %v, of %v", i, s.At, field[i-1].At, o.Duration)
		}
		if next < len(random) && reflect.DeepEqual(s, random[next]) {
			next++
			continue
		}
		switch d := s.Do.(type) {
		case createJob:
			jobs++
			if len(d.job.Spec.Template.Spec.ResourceClaims) > 0 {
				train++
			}
		case createClaim:
			disks++
		case createPod:
			if d.pod.Spec.SchedulerName == SecondScheduler {
				foreign++
			}
		case several:
			if _, creates := d[0].(createPod); creates {
				crowds[len(d)]++
			}
		}
	}
	if next != len(random) {
		t.Errorf("the field plan contains %d of %d random steps in order", next, len(random))
	}
	if jobs == train || train == 0 || disks == 0 || foreign == 0 || len(crowds) != 1 || crowds[150] < 2 {
		t.Errorf("%d Jobs, %d of them with devices, %d disks, %d foreign pods, crowds %v", jobs, train, disks, foreign, crowds)
	}
}
