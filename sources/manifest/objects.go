package manifest

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	resourcedefaults "k8s.io/kubernetes/pkg/apis/resource/v1"
	schedulingdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1beta1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"

	"github.com/schedq/schedq/sources"
)

// defaultClassNotes are the two names of the annotation of the default storage class.
var defaultClassNotes = []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}

// learn records facts that other objects of the file may refer to.
func (r *reader) learn(obj runtime.Object) {
	switch o := obj.(type) {
	case *resourcev1.ResourceClaimTemplate:
		resourcedefaults.SetObjectDefaults_ResourceClaimTemplate(o)
		key := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
		if key.Namespace == "" {
			key.Namespace = metav1.NamespaceDefault
		}
		r.claimTemplates[key] = o
	case *storagev1.StorageClass:
		for _, note := range defaultClassNotes {
			if o.Annotations[note] == "true" {
				r.defaultClass = o.Name
			}
		}
	}
}

// add emits the objects that a scheduler receives for an object of the file.
func (r *reader) add(d *document, obj runtime.Object) error {
	m, ok := obj.(metav1.ObjectMetaAccessor)
	if !ok {
		return d.errorf("", "%s has no metadata", d.title())
	}
	meta := m.GetObjectMeta().(*metav1.ObjectMeta)
	r.clean(d.kind, namespaced(obj), meta)
	if err := sources.CheckName(meta.Name); err != nil {
		return d.errorf("metadata.name", "in a %s, %w", short(d.kind), err)
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		return r.pod(d, o)
	case *appsv1.Deployment:
		return r.deployment(d, o)
	case *appsv1.ReplicaSet:
		return r.replicaSet(d, o)
	case *corev1.ReplicationController:
		return r.replicationController(d, o)
	case *appsv1.StatefulSet:
		return r.statefulSet(d, o)
	case *batchv1.Job:
		return r.job(d, o)
	case *appsv1.DaemonSet:
		r.notice(d, "%s is left out: its pods depend on the nodes, so write the pods themselves", d.title())
		return nil
	case *batchv1.CronJob:
		r.notice(d, "%s is left out: it makes no pods before it fires, so write its job as a Job", d.title())
		return nil
	case *resourcev1.ResourceClaimTemplate:
		return nil // see learn
	}
	r.setDefaults(obj)
	return r.put(d, obj)
}

// put trims and emits an object.
func (r *reader) put(d *document, obj runtime.Object) error {
	trimmed, err := sources.Trim(obj)
	if err != nil {
		return d.errorf("", "%w", err)
	}
	return r.emit(d, trimmed)
}

// emit emits a trimmed object, unless there is one with its name.
func (r *reader) emit(d *document, obj runtime.Object) error {
	m := obj.(metav1.Object)
	kind := obj.GetObjectKind().GroupVersionKind().Kind
	if err := sources.CheckName(m.GetName()); err != nil {
		return d.errorf("metadata.name", "in a %s that %s makes, %w", kind, d.title(), err)
	}
	id := object{kind, m.GetNamespace(), m.GetName()}
	if line := r.seen[id]; line > 0 {
		return d.errorf("metadata.name", "%s %s is in the file already, from line %d", kind, m.GetName(), line)
	}
	r.seen[id] = d.line
	r.out.Objects = append(r.out.Objects, obj)
	return nil
}

// namespaced reports whether objects of that kind belong to a namespace.
func namespaced(obj runtime.Object) bool {
	switch obj.(type) {
	case *corev1.Node, *corev1.Namespace, *corev1.PersistentVolume, *schedulingv1.PriorityClass, *storagev1.StorageClass,
		*storagev1.CSINode, *storagev1.CSIDriver, *storagev1.VolumeAttachment, *resourcev1.ResourceSlice, *resourcev1.DeviceClass, *resourcev1.DeviceTaintRule:
		return false
	}
	return true
}

// setDefaults sets the fields that the API server, its admission plugins and controllers set on a new object, as far as a
// scheduler reads them.
func (r *reader) setDefaults(obj runtime.Object) {
	switch o := obj.(type) {
	case *corev1.Node:
		nodeDefaults(o)
	case *corev1.Namespace:
		coredefaults.SetObjectDefaults_Namespace(o)
	case *corev1.PersistentVolumeClaim:
		r.claimDefaults(o)
	case *corev1.PersistentVolume:
		coredefaults.SetObjectDefaults_PersistentVolume(o)
		o.Status.Phase = corev1.VolumeAvailable
		if o.Spec.ClaimRef != nil {
			o.Status.Phase = corev1.VolumeBound
		}
	case *schedulingv1.PriorityClass:
		if o.PreemptionPolicy == nil {
			policy := corev1.PreemptLowerPriority
			o.PreemptionPolicy = &policy
		}
	case *schedulingv1beta1.PodGroup:
		schedulingdefaults.SetObjectDefaults_PodGroup(o)
	case *storagev1.StorageClass:
		storagedefaults.SetObjectDefaults_StorageClass(o)
	case *storagev1.CSIDriver:
		storagedefaults.SetObjectDefaults_CSIDriver(o)
	case *resourcev1.ResourceClaim:
		resourcedefaults.SetObjectDefaults_ResourceClaim(o)
	}
}

// claimDefaults sets a claim's phase, and the default class if the file contains one: trimmed classes don't show whether
// the cluster has a default.
func (r *reader) claimDefaults(c *corev1.PersistentVolumeClaim) {
	coredefaults.SetObjectDefaults_PersistentVolumeClaim(c)
	_, old := c.Annotations[corev1.BetaStorageClassAnnotation]
	if c.Spec.StorageClassName == nil && !old && r.defaultClass != "" {
		c.Spec.StorageClassName = &r.defaultClass
	}
	c.Status.Phase = corev1.ClaimPending
	if c.Spec.VolumeName != "" {
		c.Status.Phase = corev1.ClaimBound
		notes := map[string]string{BindCompleted: "yes"}
		maps.Copy(notes, c.Annotations)
		c.Annotations = notes
	}
}

// owner returns the reference to an object that controls others.
func owner(apiVersion, kind string, m *metav1.ObjectMeta) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: m.Name, UID: m.UID, Controller: &yes}
}

// count returns a number, or 1 if it is missing.
func count(d *document, field string, n *int32) (int, error) {
	switch {
	case n == nil:
		return 1, nil
	case *n < 0:
		return 0, d.errorf(field, "%s of %s is negative: %d", field, d.title(), *n)
	case *n > maxPods:
		return 0, d.errorf(field, "%s of %s is %d, and a file makes at most %d pods", field, d.title(), *n, maxPods)
	}
	return int(*n), nil
}
