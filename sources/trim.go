package sources

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Trim returns a copy of obj with only the fields that kube-scheduler v1.37 and its plugins read, and with all text
// sanitised. It drops everything that may contain a secret: environment, arguments, commands, probes, managed fields,
// volumes that scheduling ignores, and annotations except the few that the scheduler reads (a claim's bind-completed,
// selected-node and beta storage class, a CSINode's migrated plugins, the mark of an extended resource's claim). The copy
// has its Kind set and may share parts with obj, which is not changed.
//
// An error is one sentence: the scheduler does not watch the kind, a name is not a Kubernetes name, or a list or a number
// is too large.
func Trim(obj runtime.Object) (runtime.Object, error) {
	out, _, err := trimmed(obj)
	return out, err
}

// trimmed is Trim, and also returns the approximate size of the copy in bytes.
func trimmed(obj runtime.Object) (_ runtime.Object, size int, _ error) {
	out := trimKind(obj)
	if out == nil {
		return nil, 0, fmt.Errorf("kube-scheduler does not watch objects of type %T", obj)
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Kind == "" {
		gvk = kindOf(out)
	}
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return checked(out)
}

// checked is trimmed for an object that needs no trimming.
func checked(obj runtime.Object) (_ runtime.Object, size int, _ error) {
	if err := checkMeta(obj); err != nil {
		return nil, 0, err
	}
	return safeObject(obj)
}

func trimKind(obj runtime.Object) runtime.Object {
	switch o := obj.(type) {
	case *corev1.Pod:
		return trimPod(o)
	case *corev1.Node:
		return trimNode(o)
	case *corev1.PersistentVolumeClaim:
		return trimClaim(o)
	case *corev1.PersistentVolume:
		return trimVolume(o)
	case *corev1.Namespace:
		return &corev1.Namespace{ObjectMeta: trimMeta(&o.ObjectMeta)}
	case *corev1.Service:
		return &corev1.Service{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: corev1.ServiceSpec{Selector: o.Spec.Selector}}
	case *corev1.ReplicationController:
		return &corev1.ReplicationController{ObjectMeta: trimMeta(&o.ObjectMeta),
			Spec: corev1.ReplicationControllerSpec{Selector: o.Spec.Selector}}
	case *appsv1.ReplicaSet:
		return &appsv1.ReplicaSet{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: appsv1.ReplicaSetSpec{Selector: o.Spec.Selector}}
	case *appsv1.StatefulSet:
		return &appsv1.StatefulSet{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: appsv1.StatefulSetSpec{Selector: o.Spec.Selector}}
	case *policyv1.PodDisruptionBudget:
		return &policyv1.PodDisruptionBudget{ObjectMeta: trimMeta(&o.ObjectMeta),
			Spec: policyv1.PodDisruptionBudgetSpec{Selector: o.Spec.Selector},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: o.Status.DisruptionsAllowed,
				DisruptedPods: o.Status.DisruptedPods}}
	case *schedulingv1.PriorityClass:
		return &schedulingv1.PriorityClass{ObjectMeta: trimMeta(&o.ObjectMeta), Value: o.Value,
			GlobalDefault: o.GlobalDefault, PreemptionPolicy: o.PreemptionPolicy}
	case *schedulingv1beta1.PodGroup:
		return &schedulingv1beta1.PodGroup{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: o.Spec,
			Status: schedulingv1beta1.PodGroupStatus{ResourceClaimStatuses: o.Status.ResourceClaimStatuses}}
	}
	if out := trimStorage(obj); out != nil {
		return out
	}
	return trimDevices(obj)
}

func trimStorage(obj runtime.Object) runtime.Object {
	switch o := obj.(type) {
	case *storagev1.StorageClass:
		return &storagev1.StorageClass{ObjectMeta: trimMeta(&o.ObjectMeta), Provisioner: o.Provisioner,
			VolumeBindingMode: o.VolumeBindingMode, AllowedTopologies: o.AllowedTopologies}
	case *storagev1.CSINode:
		out := &storagev1.CSINode{ObjectMeta: trimMeta(&o.ObjectMeta)}
		out.Annotations = keepNotes(o.Annotations, corev1.MigratedPluginsAnnotationKey)
		for _, d := range o.Spec.Drivers {
			out.Spec.Drivers = append(out.Spec.Drivers,
				storagev1.CSINodeDriver{Name: d.Name, TopologyKeys: d.TopologyKeys, Allocatable: d.Allocatable})
		}
		return out
	case *storagev1.CSIDriver:
		return &storagev1.CSIDriver{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: storagev1.CSIDriverSpec{
			AttachRequired: o.Spec.AttachRequired, StorageCapacity: o.Spec.StorageCapacity,
			VolumeLifecycleModes:          o.Spec.VolumeLifecycleModes,
			PreventPodSchedulingIfMissing: o.Spec.PreventPodSchedulingIfMissing}}
	case *storagev1.CSIStorageCapacity:
		return &storagev1.CSIStorageCapacity{ObjectMeta: trimMeta(&o.ObjectMeta), NodeTopology: o.NodeTopology,
			StorageClassName: o.StorageClassName, Capacity: o.Capacity, MaximumVolumeSize: o.MaximumVolumeSize}
	case *storagev1.VolumeAttachment:
		return &storagev1.VolumeAttachment{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: storagev1.VolumeAttachmentSpec{
			Attacher: o.Spec.Attacher, NodeName: o.Spec.NodeName,
			Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: o.Spec.Source.PersistentVolumeName,
				InlineVolumeSpec: trimInline(o.Spec.Source.InlineVolumeSpec)}}}
	}
	return nil
}

func trimDevices(obj runtime.Object) runtime.Object {
	switch o := obj.(type) {
	case *resourcev1.ResourceClaim:
		out := &resourcev1.ResourceClaim{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: o.Spec}
		out.Annotations = keepNotes(o.Annotations, resourcev1.ExtendedResourceClaimAnnotation)
		// The plugin adds and looks for its own finalizer.
		if slices.Contains(o.Finalizers, resourcev1.Finalizer) {
			out.Finalizers = []string{resourcev1.Finalizer}
		}
		out.Spec.Devices.Config = nil // opaque parameters for drivers
		out.Status.ReservedFor = o.Status.ReservedFor
		for _, d := range o.Status.Devices {
			out.Status.Devices = append(out.Status.Devices, resourcev1.AllocatedDeviceStatus{
				Driver: d.Driver, Pool: d.Pool, Device: d.Device, ShareID: d.ShareID, Conditions: d.Conditions})
		}
		if a := o.Status.Allocation; a != nil {
			trimmed := *a
			trimmed.Devices.Config = nil
			out.Status.Allocation = &trimmed
		}
		return out
	case *resourcev1.ResourceSlice:
		return &resourcev1.ResourceSlice{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: o.Spec}
	case *resourcev1.DeviceTaintRule:
		return &resourcev1.DeviceTaintRule{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: o.Spec}
	case *resourcev1.DeviceClass:
		return &resourcev1.DeviceClass{ObjectMeta: trimMeta(&o.ObjectMeta), Spec: resourcev1.DeviceClassSpec{
			Selectors: o.Spec.Selectors, ExtendedResourceName: o.Spec.ExtendedResourceName}}
	}
	return nil
}

func trimMeta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	out := metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		Generation: m.Generation, CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
		Labels: m.Labels}
	for _, o := range m.OwnerReferences {
		out.OwnerReferences = append(out.OwnerReferences, metav1.OwnerReference{
			APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID, Controller: o.Controller})
	}
	return out
}

// keepNotes returns the annotations of those keys, or nil.
func keepNotes(annotations map[string]string, keys ...string) map[string]string {
	var out map[string]string
	for _, k := range keys {
		v, ok := annotations[k]
		if !ok {
			continue
		}
		if len(v) > maxName*4 {
			v = v[:maxName*4]
		}
		if out == nil {
			out = map[string]string{}
		}
		out[k] = v
	}
	return out
}

func checkMeta(obj runtime.Object) error {
	m, ok := obj.(metav1.Object)
	if !ok {
		return fmt.Errorf("an object of type %T has no metadata", obj)
	}
	kind := obj.GetObjectKind().GroupVersionKind().Kind
	if err := CheckName(m.GetName()); err != nil {
		return fmt.Errorf("in a %s, %w", kind, err)
	}
	if ns := m.GetNamespace(); ns != "" {
		if err := CheckName(ns); err != nil {
			return fmt.Errorf("in the namespace of %s %s, %w", kind, m.GetName(), err)
		}
	}
	if uid := string(m.GetUID()); len(uid) > maxName || !isPlain(uid) {
		return fmt.Errorf("the uid of %s %s is not one: \"%.80s\"", kind, m.GetName(), Sanitize(uid))
	}
	if rv := m.GetResourceVersion(); rv != "" && !IsVersion(rv) {
		return fmt.Errorf("the resourceVersion of %s %s is not a number: \"%.80s\"", kind, m.GetName(), Sanitize(rv))
	}
	return nil
}

// IsVersion reports whether rv is an object's resourceVersion: a decimal number.
func IsVersion(rv string) bool {
	return rv != "" && len(rv) <= 20 && strings.Trim(rv, "0123456789") == ""
}
