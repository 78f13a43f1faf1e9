package cycle

import (
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// uses mounts a claim.
func uses(claim string) podEdit {
	return func(p *v1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: claim, VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
}

// aClaim returns a claim of a storage class, bound to volume unless that is empty.
func aClaim(name, class, volume string, modes ...v1.PersistentVolumeAccessMode) *v1.PersistentVolumeClaim {
	claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("claim-" + name)}}
	claim.Spec = v1.PersistentVolumeClaimSpec{StorageClassName: &class, VolumeName: volume, AccessModes: modes}
	claim.Spec.Resources.Requests = v1.ResourceList{"storage": apiresource.MustParse("1Gi")}
	claim.Status.Phase = v1.ClaimPending
	if volume != "" {
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, "pv.kubernetes.io/bind-completed", "yes")
		claim.Status.Phase = v1.ClaimBound
	}
	return claim
}

// aVolume returns a volume of a storage class on nodes with that label, bound to claim unless that
// is empty.
func aVolume(name, class, claim, key, value string) *v1.PersistentVolume {
	volume := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	volume.Spec = v1.PersistentVolumeSpec{StorageClassName: class, Capacity: v1.ResourceList{"storage": apiresource.MustParse("1Gi")}}
	volume.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: "disk.example.com", VolumeHandle: name}
	volume.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: selectNodes(key, value)}
	volume.Status.Phase = v1.VolumeAvailable
	if claim != "" {
		volume.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "default", Name: claim, UID: types.UID("claim-" + claim)}
		volume.Status.Phase = v1.VolumeBound
	}
	return volume
}

func aClass(name string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &mode}
}

// aCSINode limits the number of volumes of disk.example.com on a node.
func aCSINode(node string, volumes int32) *storagev1.CSINode {
	return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
		Name: "disk.example.com", NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: &volumes},
	}}}}
}

func usesDevice(claim string) podEdit {
	return func(p *v1.Pod) {
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim}}
		p.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpu"}}
	}
}

func aDeviceClass(name string) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// aDeviceClaim returns a claim for a device of a class.
func aDeviceClaim(name, class string) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("claim-" + name)}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "one", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
	}}}
	return claim
}

// aSlice returns the devices of a node.
func aSlice(node string, devices ...string) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node + "-gpus"}}
	slice.Spec = resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
	}
	for _, d := range devices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: d})
	}
	return slice
}
