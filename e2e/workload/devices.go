package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The devices of a workload. Few nodes have some, so Jobs compete for them.
const (
	deviceDriver   = "gpu.example.com"
	deviceNodes    = 2
	devicesPerNode = 4
)

// deviceTaint keeps other pods off nodes with devices.
var deviceTaint = corev1.Taint{Key: deviceDriver, Value: "present", Effect: corev1.TaintEffectNoSchedule}

// deviceTemplates are the claim templates by number of devices.
var deviceTemplates = []struct {
	name  string
	count int64
}{{"one-device", 1}, {"two-devices", 2}}

// prepareDevices creates nodes with devices, as a driver would publish them, and claim templates.
func prepareDevices(ctx context.Context, client kubernetes.Interface) error {
	api := client.ResourceV1()
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: deviceDriver}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", deviceDriver)}}},
	}}
	if _, err := api.DeviceClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("device class: %w", err)
	}
	for _, t := range deviceTemplates {
		template := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: t.name}, Spec: resourcev1.ResourceClaimTemplateSpec{
			Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
				Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class.Name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: t.count},
			}}}},
		}}
		if _, err := api.ResourceClaimTemplates(Namespace).Create(ctx, template, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("claim template: %w", err)
		}
	}
	for i := range deviceNodes {
		node := newNode(fmt.Sprintf("gpu-%d", i), "16")
		node.Spec.Taints = []corev1.Taint{deviceTaint}
		if err := (addNode{node}).do(ctx, client); err != nil {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: deviceDriver, NodeName: &node.Name, Pool: resourcev1.ResourcePool{Name: node.Name, ResourceSliceCount: 1},
		}}
		for d := range devicesPerNode {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", d)})
		}
		if _, err := api.ResourceSlices().Create(ctx, slice, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("devices of %s: %w", node.Name, err)
		}
	}
	return nil
}
