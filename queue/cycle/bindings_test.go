package cycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// full returns a story with one node that an assumed pod of 3 CPUs fills, and a pod "waiting" that
// was rejected a minute ago.
func full(t *testing.T) (*story, *Binding) {
	st := newStory(t, aNode("one"))
	a := st.tries(aPod("first", requests("cpu", "3")))
	st.tries(aPod("waiting", requests("cpu", "2")))
	st.Writes()
	st.pass(time.Minute)
	st.takeMoves()
	return st, a.Binding
}

// TestBind checks that a pod is in flight until its binding, and the written binding.
func TestBind(t *testing.T) {
	st, b := full(t)
	st.is("while its binding is underway", "first inflight", "waiting unschedulable NodeResourcesFit")
	if err := st.Bind(st.clock, b); err != nil {
		t.Fatal(err)
	}
	if got := st.takeMoves(); got != "first scheduled" {
		t.Errorf("moves: %q", got)
	}
	writes := st.Writes()
	if len(writes) != 1 || writes[0].Status || writes[0].New {
		t.Fatalf("writes: %+v", writes)
	}
	bound := writes[0].Object.(*v1.Pod)
	if bound.Name != "first" || bound.Spec.NodeName != "one" || bound.ResourceVersion <= b.Pod.ResourceVersion {
		t.Errorf("writes: %+v", bound)
	}
	if c := bound.Status.Conditions; len(c) != 1 || c[0].Type != v1.PodScheduled || c[0].Status != v1.ConditionTrue || !c[0].LastTransitionTime.Equal(&metav1.Time{Time: st.clock}) {
		t.Errorf("conditions: %+v", c)
	}
	if err := st.Put(st.clock, bound); err != nil {
		t.Fatal(err)
	}
	// Upstream deletes a bound pod from its queue, in which it is not any more.
	if got := st.takeMoves(); got != "first deleted" {
		t.Errorf("when it was seen: %q", got)
	}
	st.remove(bound)
	if got := st.takeMoves(); got != "waiting active: AssignedPodDelete" {
		t.Errorf("when it went: %q", got)
	}
}

// TestBindClearsNomination checks that a binding clears the nomination, as in the API server, and
// sets the PodScheduled condition to true.
func TestBindClearsNomination(t *testing.T) {
	low := at("one", aPod("low", requests("cpu", "3")))
	st := newStory(t, aNode("one"), low)
	st.tries(aPod("high", requests("cpu", "2"), priority(10)))
	st.applyWrites()
	st.evict(low, true)
	st.remove(low)
	st.pass(time.Minute)
	a := st.try()
	if err := st.Bind(st.clock, a.Binding); err != nil {
		t.Fatal(err)
	}
	status := st.Writes()[0].Object.(*v1.Pod).Status
	if status.NominatedNodeName != "" || len(status.Conditions) != 1 || status.Conditions[0].Status != v1.ConditionTrue || !status.Conditions[0].LastTransitionTime.Time.Equal(st.clock) {
		t.Errorf("status: %+v", status)
	}
}

// TestFail checks that a failed binding frees the node, and that the pod backs off as after an
// error.
func TestFail(t *testing.T) {
	st, b := full(t)
	st.Fail(st.clock, b, errors.New("the network is down"))
	if got := st.takeMoves(); got != "waiting active: AssignedPodDelete; first backoff: ScheduleAttemptFailure" {
		t.Errorf("moves: %q", got)
	}
	info, _ := st.q.Get("default", "first")
	if info.ConsecutiveErrorsCount != 1 || info.UnschedulableCount != 0 || len(info.UnschedulablePlugins) != 0 {
		t.Errorf("queue: %+v", info)
	}
	writes := st.Writes()
	if len(writes) != 1 {
		t.Fatalf("writes: %+v", writes)
	}
	if c := writes[0].Object.(*v1.Pod).Status.Conditions[0]; c.Reason != v1.PodReasonSchedulerError || c.Message != "the network is down" {
		t.Errorf("its condition is %+v", c)
	}
	if a := st.try(); a.Pod.Name != "waiting" || a.Node != "one" {
		t.Errorf("%s: %s", a.Pod.Name, result(a))
	}
}

// TestForget checks that Forget frees the node without a move.
func TestForget(t *testing.T) {
	st, b := full(t)
	st.Forget(b)
	if got := st.takeMoves(); got != "" || len(st.Writes()) != 0 {
		t.Errorf("moves: %q", got)
	}
	st.Activate(aPod("waiting"))
	if a := st.try(); a.Node != "one" {
		t.Error(result(a))
	}
}

// TestDeletedWhileAssumed checks that the deletion of an assumed pod frees its node immediately.
func TestDeletedWhileAssumed(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(*story, *v1.Pod)
		says    string
	}{
		{"is deleted", func(st *story, p *v1.Pod) { st.remove(p) }, "not found"},
		{"is being deleted", func(st *story, p *v1.Pod) {
			p = p.DeepCopy()
			p.DeletionTimestamp = &metav1.Time{Time: st.clock}
			st.put(p)
		}, "being deleted"},
	} {
		st, b := full(t)
		c.happens(st, aPod("first", requests("cpu", "3")))
		st.is("when the pod "+c.name, "waiting active NodeResourcesFit")
		if a := st.try(); a.Node != "one" {
			t.Errorf("the pod %s: %s", c.name, result(a))
		}
		if err := st.Bind(st.clock, b); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("the pod %s, and its binding says %v", c.name, err)
		}
		if c.says == "not found" {
			st.is("when its binding failed", "first gone")
		} else {
			st.is("when its binding failed", "first backoff") // where it stays until it is gone
		}
	}
}

// TestBoundElsewhere checks that the binding of a pod that was bound by another client fails.
func TestBoundElsewhere(t *testing.T) {
	for _, node := range []string{"one", "two"} {
		first, st := aPod("first", requests("cpu", "3")), newStory(t, aNode("one"), aNode("two"))
		b := st.tries(first).Binding
		st.put(at(node, first))
		err := st.Bind(st.clock, b)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("already assigned to node %q", node)) {
			t.Errorf("binding failed with %v", err)
		}
		st.is("when it was bound elsewhere", "first gone")
		// Upstream writes its failure into a pod that runs.
		if w := st.Writes(); len(w) != 1 || w[0].Object.(*v1.Pod).Spec.NodeName != node || w[0].Object.(*v1.Pod).Status.Conditions[0].Reason != v1.PodReasonSchedulerError {
			t.Errorf("writes: %+v", w)
		}
		if a := st.tries(aPod("other", requests("cpu", "3"))); a.Node == node || a.Node == "" {
			t.Errorf("with the first on %s, the next goes to %s", node, result(a))
		}
	}
}

// TestForgetBoundElsewhere checks Forget for a pod that was observed on another node, before and
// after the scheduler receives the update.
func TestForgetBoundElsewhere(t *testing.T) {
	for _, before := range []bool{true, false} {
		first, st := aPod("first", requests("cpu", "3")), newStory(t, aNode("one"), aNode("two"))
		b := st.tries(first).Binding
		other := map[string]string{"one": "two", "two": "one"}[b.Node]
		if before {
			st.Forget(b)
		}
		st.put(at(other, first))
		if !before {
			st.Forget(b)
		}
		st.q.Bound(st.clock, "first")
		if a := st.tries(aPod("next", requests("cpu", "3"))); a.Node != b.Node {
			t.Errorf("the next pod goes to %s", result(a))
		}
	}
}

// TestDeviceIsReserved checks that a claim's device is taken as soon as its pod is assumed, and
// written with the binding.
func TestDeviceIsReserved(t *testing.T) {
	st := newStory(t, aNode("one"), aDeviceClass("gpu"), aSlice("one", "gpu-0"), aDeviceClaim("mine", "gpu"), aDeviceClaim("yours", "gpu"))
	a := st.tries(aPod("first", usesDevice("mine")))
	if a.Node != "one" {
		t.Fatal(result(a))
	}
	if second := st.tries(aPod("second", usesDevice("yours"))); second.Node != "" {
		t.Error("the device was allocated twice")
	}
	st.Writes()
	if err := st.Bind(st.clock, a.Binding); err != nil {
		t.Fatal(err)
	}
	var wrote []string
	var claim *resourcev1.ResourceClaim
	for _, w := range st.Writes() {
		wrote = append(wrote, fmt.Sprintf("%T status=%v", w.Object, w.Status))
		if c, ok := w.Object.(*resourcev1.ResourceClaim); ok {
			claim = c
		}
		if err := st.Put(st.clock, w.Object); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(wrote, ", "), "*v1.ResourceClaim status=false, *v1.ResourceClaim status=true, *v1.Pod status=false"; got != want {
		t.Errorf("it wrote %s, want %s", got, want)
	}
	if d := claim.Status.Allocation.Devices.Results; len(d) != 1 || d[0].Device != "gpu-0" || claim.Status.ReservedFor[0].Name != "first" {
		t.Errorf("claim: %+v", claim.Status)
	}
	st.pass(time.Minute)
	freed := claim.DeepCopy()
	freed.ResourceVersion = "999"
	freed.Status = resourcev1.ResourceClaimStatus{}
	if err := st.Put(st.clock, freed); err != nil {
		t.Fatal(err)
	}
	st.is("when the device is free", "second active DynamicResources")
	if a := st.try(); a.Node != "one" {
		t.Error(result(a))
	}
}

// TestDeviceIsReadyAtOnce checks that the binding conditions of a device are true after its
// allocation: without drivers, upstream's plugin would wait for them.
func TestDeviceIsReadyAtOnce(t *testing.T) {
	slice := aSlice("one", "gpu-0")
	slice.Spec.Devices[0].BindingConditions = []string{"example.com/attached", "example.com/warm"}
	slice.Spec.Devices[0].BindingFailureConditions = []string{"example.com/broken"}
	st := newStory(t, aNode("one"), aDeviceClass("gpu"), slice, aDeviceClaim("mine", "gpu"))
	a := st.tries(aPod("first", usesDevice("mine")))
	if a.Node != "one" {
		t.Fatal(result(a))
	}
	began := time.Now()
	if err := st.Bind(st.clock, a.Binding); err != nil || time.Since(began) > 3*time.Second {
		t.Fatalf("%v, after %s", err, time.Since(began))
	}
	writes := st.Writes()
	claim, ok := writes[len(writes)-2].Object.(*resourcev1.ResourceClaim)
	if !ok || len(claim.Status.Devices) != 1 || len(claim.Status.Devices[0].Conditions) != 2 {
		t.Fatalf("before the binding it wrote %+v", writes[len(writes)-2].Object)
	}
	if at := claim.Status.Allocation.AllocationTimestamp; !at.Time.Equal(st.clock) {
		t.Errorf("it is allocated at %s, and the model's clock is at %s", at, st.clock)
	}
}

// TestDeviceTaintRule checks that a rule taints devices, and that its deletion wakes the rejected
// pods.
func TestDeviceTaintRule(t *testing.T) {
	driver := "gpu.example.com"
	rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "broken", UID: "broken", ResourceVersion: "1"}, Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: &driver},
		Taint:          resourcev1.DeviceTaint{Key: "broken", Effect: resourcev1.DeviceTaintEffectNoSchedule},
	}}
	st := newStory(t, aNode("one"), aDeviceClass("gpu"), aSlice("one", "gpu-0"), aDeviceClaim("mine", "gpu"), rule)
	if a := st.tries(aPod("first", usesDevice("mine"))); a.Node != "" {
		t.Fatal("the device is tainted, and was taken")
	}
	st.pass(time.Minute)
	if err := st.Remove(st.clock, rule); err != nil {
		t.Fatal(err)
	}
	st.is("when the rule is gone", "first active DynamicResources")
	if a := st.try(); a.Node != "one" {
		t.Error(result(a))
	}
}
