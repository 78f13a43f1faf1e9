package cycle

import (
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// allocated returns a claim with two devices for a pod: disk, which is ready, and gpu with two
// binding conditions, of which those in met are true.
func allocated(pod types.UID, met ...string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{}
	c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{UID: pod}}
	share := types.UID("share")
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
		{Device: "disk"}, {Device: "gpu", ShareID: &share, BindingConditions: []string{"attached", "warm"}}}}}
	text := string(share)
	status := resourcev1.AllocatedDeviceStatus{Device: "gpu", ShareID: &text}
	for _, m := range met {
		status.Conditions = append(status.Conditions, metav1.Condition{Type: m, Status: metav1.ConditionTrue})
	}
	c.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Device: "gpu", Conditions: []metav1.Condition{{Type: "warm", Status: metav1.ConditionTrue}}}, status}
	return c
}

// TestAwaitsDevices checks that all conditions of all devices must be true, in the device's own
// share.
func TestAwaitsDevices(t *testing.T) {
	for _, c := range []struct {
		name  string
		claim *resourcev1.ResourceClaim
		want  bool
	}{
		{"none is met", allocated("web"), true},
		{"one is met", allocated("web", "attached"), true},
		{"all are met", allocated("web", "attached", "warm"), false},
		{"it is another's", allocated("db"), false},
		{"it is not allocated", &resourcev1.ResourceClaim{}, false},
	} {
		if got := AwaitsDevices(c.claim, "web"); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestDeviceDeadline checks the timeout, and that a claim that was allocated before expires at one
// of the checks, which run every 5 s.
func TestDeviceDeadline(t *testing.T) {
	since := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name      string
		allocated float64 // seconds before
		want      float64
	}{
		{"now", 0, 60},
		{"a moment before", 0.5, 60},
		{"before", 12, 50},
		{"long before", 100, 0},
	} {
		claim := allocated("web")
		claim.Status.Allocation.AllocationTimestamp = &metav1.Time{Time: since.Add(-time.Duration(c.allocated * float64(time.Second)))}
		if got := DeviceDeadline(claim, since, time.Minute).Sub(since).Seconds(); got != c.want {
			t.Errorf("allocated %s: it gives up after %g s, want %g", c.name, got, c.want)
		}
	}
	if got := DeviceDeadline(allocated("web"), since, time.Minute).Sub(since); got != time.Minute {
		t.Errorf("without a time it gives up after %s", got)
	}
}

// TestMakeDevicesReady checks that no device is awaited afterwards.
func TestMakeDevicesReady(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, met := range [][]string{nil, {"attached"}} {
		claim := allocated("web", met...)
		if met == nil {
			claim.Status.Devices = nil
		}
		makeDevicesReady(claim, now)
		if AwaitsDevices(claim, "web") || !claim.Status.Allocation.AllocationTimestamp.Time.Equal(now) {
			t.Errorf("it is %+v", claim.Status)
		}
	}
	claim := &resourcev1.ResourceClaim{}
	makeDevicesReady(claim, now) // has nothing to do
}

// TestDevicesFailed checks that a device fails when one of its failure conditions is true and no
// earlier device is awaited.
func TestDevicesFailed(t *testing.T) {
	broken := func(c *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
		if c.Status.Allocation != nil {
			c.Status.Allocation.Devices.Results[1].BindingFailureConditions = []string{"broken"}
		}
		return c
	}
	behind := broken(allocated("web", "broken"))
	behind.Status.Allocation.Devices.Results[0].BindingConditions = []string{"attached"} // of which no driver says anything
	ahead := broken(allocated("web", "broken"))
	ahead.Status.Allocation.Devices.Results[0].BindingConditions = []string{"attached"}
	ahead.Status.Devices = append(ahead.Status.Devices, resourcev1.AllocatedDeviceStatus{Device: "disk", Conditions: []metav1.Condition{{Type: "attached", Status: metav1.ConditionTrue}}})
	for _, c := range []struct {
		name  string
		claim *resourcev1.ResourceClaim
		want  bool
	}{
		{"it is broken", broken(allocated("web", "broken")), true},
		{"it is broken, and all else is met", broken(allocated("web", "attached", "warm", "broken")), true},
		{"it is not", broken(allocated("web", "attached", "warm")), false},
		{"it has no such condition", allocated("web", "broken"), false},
		{"another is waited for", behind, false},
		{"another is ready", ahead, true},
		{"it is not allocated", broken(&resourcev1.ResourceClaim{}), false},
	} {
		if got := DevicesFailed(c.claim); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestDeviceCheckAt checks that devices are checked immediately and then every 5 s.
func TestDeviceCheckAt(t *testing.T) {
	since := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for at, want := range map[float64]float64{0: 0, 0.001: 5, 4.9: 5, 5: 5, 5.1: 10} {
		if got := DeviceCheckAt(since, since.Add(time.Duration(at*float64(time.Second)))).Sub(since).Seconds(); got != want {
			t.Errorf("from %g s on it looks after %g s, want %g", at, got, want)
		}
	}
}

// TestIsClaimFor checks claims that are reserved for a pod, and those that the scheduler creates
// for one.
func TestIsClaimFor(t *testing.T) {
	owns := true
	made := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "web", Controller: &owns}}}}
	if IsClaimFor(made, "web") { // as one that is made of a template, which a controller makes
		t.Error("it is not the scheduler's")
	}
	made.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
	if !IsClaimFor(made, "web") || IsClaimFor(made, "db") || !IsClaimFor(allocated("db"), "db") || IsClaimFor(allocated("db"), "web") {
		t.Error("whose is it?")
	}
}
