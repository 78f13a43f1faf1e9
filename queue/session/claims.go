package session

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1helper "k8s.io/component-helpers/storage/volume"
)

// bindClaim binds a claim to a volume, as the volume controller would: to the smallest one that is free
// and will do, or to a new one, as a provisioner would.
func (o *owner) bindClaim(key types.NamespacedName) {
	o.ask("bind claim "+key.String(), func(e *engine, now time.Time) error {
		claim, ok := e.objects.get(&v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}).(*v1.PersistentVolumeClaim)
		if !ok {
			return fmt.Errorf("there is no such claim")
		}
		if claim.Spec.VolumeName != "" {
			return fmt.Errorf("it is bound to volume %s already", claim.Spec.VolumeName)
		}
		volume := e.volumeFor(claim)
		volume.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
		volume.Status.Phase = v1.VolumeBound
		e.become(now, volume)
		claim = claim.DeepCopy()
		claim.Spec.VolumeName = volume.Name
		claim.Status.Phase = v1.ClaimBound
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[corev1helper.AnnBindCompleted] = "yes"
		e.become(now, claim)
		return nil
	})
}

// volumeFor returns a copy of the free volume that fits claim best, or a new one.
func (e *engine) volumeFor(claim *v1.PersistentVolumeClaim) *v1.PersistentVolume {
	var free []*v1.PersistentVolume
	e.objects.each("PersistentVolume", func(obj runtime.Object) bool {
		free = append(free, obj.(*v1.PersistentVolume))
		return true
	})
	best, err := corev1helper.FindMatchingVolume(claim, free, nil, nil, false, true)
	if err == nil && best != nil {
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
		ObjectMeta: metav1.ObjectMeta{Name: "what-if-" + claim.Namespace + "-" + claim.Name, UID: "what-if-" + claim.UID},
		Spec: v1.PersistentVolumeSpec{
			Capacity: v1.ResourceList{v1.ResourceStorage: size}, AccessModes: claim.Spec.AccessModes,
			StorageClassName: class, VolumeMode: claim.Spec.VolumeMode,
		},
	}
}
