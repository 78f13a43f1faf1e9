package timeline

import (
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
)

// VolumeFor returns a copy of the free volume that fits claim best, or a new one that a provisioner might make.
func (e *Engine) VolumeFor(claim *v1.PersistentVolumeClaim) *v1.PersistentVolume {
	var free []*v1.PersistentVolume
	e.Objects.Each("PersistentVolume", func(obj runtime.Object) bool {
		free = append(free, obj.(*v1.PersistentVolume))
		return true
	})
	if best := cycle.MatchingVolume(claim, free); best != nil {
		return best.DeepCopy()
	}
	class := ""
	if claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	size, ok := claim.Spec.Resources.Requests[v1.ResourceStorage]
	if !ok {
		size = resource.MustParse("1Gi")
	}
	return &v1.PersistentVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
		ObjectMeta: metav1.ObjectMeta{Name: "what-if-" + claim.Namespace + "-" + claim.Name, UID: "what-if-" + claim.UID},
		Spec: v1.PersistentVolumeSpec{
			Capacity: v1.ResourceList{v1.ResourceStorage: size}, AccessModes: claim.Spec.AccessModes,
			StorageClassName: class, VolumeMode: claim.Spec.VolumeMode,
		},
	}
}

// PriorityClass returns the named priority class, and false if the cluster has none of that name.
func (e *Engine) PriorityClass(name string) (*schedulingv1.PriorityClass, bool) {
	class, ok := e.Objects.Get(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}}).(*schedulingv1.PriorityClass)
	return class, ok
}

// DefaultPriorityClass returns a priority class that is the cluster's default, or nil if there is none.
func (e *Engine) DefaultPriorityClass() *schedulingv1.PriorityClass {
	var class *schedulingv1.PriorityClass
	e.Objects.Each("PriorityClass", func(obj runtime.Object) bool {
		if c := obj.(*schedulingv1.PriorityClass); c.GlobalDefault {
			class = c
		}
		return class == nil
	})
	return class
}

// Pod returns the object of the named pod that the engine's queue has, or a placeholder if it has none.
func (e *Engine) Pod(key types.NamespacedName) *v1.Pod {
	if info, ok := e.Queue.Get(key.Namespace, key.Name); ok {
		return info.Pod
	}
	return cluster.Placeholder(key)
}

// AsCreated returns a copy of pod, which a person made up, as the API server would hand it out if it was created at
// now.
func AsCreated(pod *v1.Pod, now time.Time) *v1.Pod {
	pod = pod.DeepCopy()
	pod.CreationTimestamp = metav1.NewTime(now)
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = v1.DefaultSchedulerName
	}
	if pod.Status.Phase == "" {
		pod.Status.Phase = v1.PodPending
	}
	return pod
}
