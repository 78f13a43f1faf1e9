package session

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helper "k8s.io/component-helpers/storage/volume"

	"github.com/schedq/schedq/queue/session/timeline"
)

// bindClaim binds a claim to a volume, as the volume controller would: to the smallest one that is free
// and will do, or to a new one, as a provisioner would.
func (o *owner) bindClaim(key types.NamespacedName) {
	o.ask("bind claim "+key.String(), func(e *timeline.Engine, now time.Time) error {
		claim, ok := e.Objects.Get(&v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}).(*v1.PersistentVolumeClaim)
		if !ok {
			return fmt.Errorf("there is no such claim")
		}
		if claim.Spec.VolumeName != "" {
			return fmt.Errorf("it is bound to volume %s already", claim.Spec.VolumeName)
		}
		volume := e.VolumeFor(claim)
		volume.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
		volume.Status.Phase = v1.VolumeBound
		e.Become(now, volume)
		claim = claim.DeepCopy()
		claim.Spec.VolumeName = volume.Name
		claim.Status.Phase = v1.ClaimBound
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[corev1helper.AnnBindCompleted] = "yes"
		e.Become(now, claim)
		return nil
	})
}
