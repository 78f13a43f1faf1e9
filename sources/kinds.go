package sources

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NewObject returns an empty object of a kind that kube-scheduler watches (v1.37, eventhandlers.go and
// the plugins' informers), or nil if the kind is none of them. A version that has the same fields as the
// current one (resource.k8s.io/v1beta2, storage.k8s.io/v1beta1) gives the current type.
func NewObject(apiVersion, kind string) runtime.Object {
	var obj runtime.Object
	switch apiVersion {
	case "v1":
		obj = newCore(kind)
	case "apps/v1":
		switch kind {
		case "ReplicaSet":
			obj = &appsv1.ReplicaSet{}
		case "StatefulSet":
			obj = &appsv1.StatefulSet{}
		}
	case "policy/v1":
		if kind == "PodDisruptionBudget" {
			obj = &policyv1.PodDisruptionBudget{}
		}
	case "scheduling.k8s.io/v1":
		if kind == "PriorityClass" {
			obj = &schedulingv1.PriorityClass{}
		}
	case "scheduling.k8s.io/v1beta1":
		if kind == "PodGroup" {
			obj = &schedulingv1beta1.PodGroup{}
		}
	case "resource.k8s.io/v1", "resource.k8s.io/v1beta2":
		apiVersion = "resource.k8s.io/v1"
		switch kind {
		case "ResourceClaim":
			obj = &resourcev1.ResourceClaim{}
		case "ResourceSlice":
			obj = &resourcev1.ResourceSlice{}
		case "DeviceClass":
			obj = &resourcev1.DeviceClass{}
		case "DeviceTaintRule":
			obj = &resourcev1.DeviceTaintRule{}
		}
	case "resource.k8s.io/v1alpha3": // of which this kind alone has the fields of today
		if kind == "DeviceTaintRule" {
			apiVersion, obj = "resource.k8s.io/v1", &resourcev1.DeviceTaintRule{}
		}
	case "storage.k8s.io/v1", "storage.k8s.io/v1beta1":
		apiVersion = "storage.k8s.io/v1"
		obj = newStorage(kind)
	}
	if obj == nil {
		return nil
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	return obj
}

func newCore(kind string) runtime.Object {
	switch kind {
	case "Pod":
		return &corev1.Pod{}
	case "Node":
		return &corev1.Node{}
	case "PersistentVolume":
		return &corev1.PersistentVolume{}
	case "PersistentVolumeClaim":
		return &corev1.PersistentVolumeClaim{}
	case "Namespace":
		return &corev1.Namespace{}
	case "Service":
		return &corev1.Service{}
	case "ReplicationController":
		return &corev1.ReplicationController{}
	}
	return nil
}

func newStorage(kind string) runtime.Object {
	switch kind {
	case "StorageClass":
		return &storagev1.StorageClass{}
	case "CSINode":
		return &storagev1.CSINode{}
	case "CSIDriver":
		return &storagev1.CSIDriver{}
	case "CSIStorageCapacity":
		return &storagev1.CSIStorageCapacity{}
	case "VolumeAttachment":
		return &storagev1.VolumeAttachment{}
	}
	return nil
}

// kindOf returns the kind of a trimmed object that does not say its own, as informers hand them out.
func kindOf(obj runtime.Object) schema.GroupVersionKind {
	name := reflect.TypeOf(obj).Elem().Name()
	for _, v := range []string{"v1", "apps/v1", "policy/v1", "scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1",
		"resource.k8s.io/v1", "storage.k8s.io/v1"} {
		if NewObject(v, name) != nil {
			return schema.FromAPIVersionAndKind(v, name)
		}
	}
	return schema.GroupVersionKind{}
}
