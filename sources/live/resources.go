package live

import (
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/schedq/schedq/sources"
)

// resource is a kind of objects that is watched.
type resource struct {
	name string
	// example is an empty object of the kind.
	example runtime.Object
	client  rest.Interface
	// selector is a field selector that leaves out what is not needed.
	selector   string
	namespaced bool
	// namespace is the only one to read, where that is fixed.
	namespace string
	// without describes what does not work if the resource can't be read.
	without string
}

// The resources without which there is no queue to show.
const (
	pods  = sources.PodsWatch
	nodes = "nodes"
)

// resources returns what kube-scheduler v1.37 and its plugins watch, ordered so that referenced kinds are first, and
// then the scheduler's Events and lease.
func resources(c clients, lease leaseName) []*resource {
	core, apps, storage := c[corev1.SchemeGroupVersion], c[appsv1.SchemeGroupVersion], c[storagev1.SchemeGroupVersion]
	devices := c[resourcev1.SchemeGroupVersion]
	volumes, spread := "pods with volume claims are modelled incorrectly", "pods of Services and ReplicaSets may be spread differently"
	dra := "pods with device claims are modelled incorrectly"
	return []*resource{
		{name: "namespaces", example: &corev1.Namespace{}, client: core, without: "affinity by namespace labels is modelled incorrectly"},
		{name: nodes, example: &corev1.Node{}, client: core, without: "no attempt can be modelled"},
		{name: "priorityclasses", example: &schedulingv1.PriorityClass{}, client: c[schedulingv1.SchemeGroupVersion], without: "a what-if does not know priority classes by name"},
		{name: "podgroups", example: &schedulingv1beta1.PodGroup{}, client: c[schedulingv1beta1.SchemeGroupVersion], namespaced: true, without: "pod groups are not known"},
		{name: "poddisruptionbudgets", example: &policyv1.PodDisruptionBudget{}, client: c[policyv1.SchemeGroupVersion], namespaced: true, without: "preemption may choose other victims"},
		{name: "services", example: &corev1.Service{}, client: core, namespaced: true, without: spread},
		{name: "replicationcontrollers", example: &corev1.ReplicationController{}, client: core, namespaced: true, without: spread},
		{name: "replicasets", example: &appsv1.ReplicaSet{}, client: apps, namespaced: true, without: spread},
		{name: "statefulsets", example: &appsv1.StatefulSet{}, client: apps, namespaced: true, without: spread},
		{name: "storageclasses", example: &storagev1.StorageClass{}, client: storage, without: volumes},
		{name: "csidrivers", example: &storagev1.CSIDriver{}, client: storage, without: volumes},
		{name: "csinodes", example: &storagev1.CSINode{}, client: storage, without: volumes},
		{name: "csistoragecapacities", example: &storagev1.CSIStorageCapacity{}, client: storage, namespaced: true, without: volumes},
		{name: "volumeattachments", example: &storagev1.VolumeAttachment{}, client: storage, without: volumes},
		{name: "persistentvolumes", example: &corev1.PersistentVolume{}, client: core, without: volumes},
		{name: "persistentvolumeclaims", example: &corev1.PersistentVolumeClaim{}, client: core, namespaced: true, without: volumes},
		{name: "deviceclasses", example: &resourcev1.DeviceClass{}, client: devices, without: dra},
		{name: "devicetaintrules", example: &resourcev1.DeviceTaintRule{}, client: devices, without: dra},
		{name: "resourceslices", example: &resourcev1.ResourceSlice{}, client: devices, without: dra},
		{name: "resourceclaims", example: &resourcev1.ResourceClaim{}, client: devices, namespaced: true, without: dra},
		// Like the scheduler's own informer (scheduler.go, NewInformerFactory): terminated pods use no resources.
		{name: pods, example: &corev1.Pod{}, client: core, namespaced: true,
			selector: "status.phase!=Succeeded,status.phase!=Failed", without: "there is no queue to show"},
		{name: events, example: &eventsv1.Event{}, client: c[eventsv1.SchemeGroupVersion], namespaced: true,
			selector: "reason=FailedScheduling", without: "failed attempts that change no pod are not observed, and the attempts of existing pods are estimated less accurately"},
		{name: leases, example: &coordinationv1.Lease{}, client: c[coordinationv1.SchemeGroupVersion],
			selector: "metadata.name=" + lease.name, namespace: lease.namespace, without: "a new leader among the schedulers is not noticed"},
	}
}
