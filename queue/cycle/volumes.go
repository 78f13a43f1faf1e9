package cycle

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"
)

// MatchingVolume returns the volume to which the volume controller binds claim, or nil.
func MatchingVolume(claim *v1.PersistentVolumeClaim, volumes []*v1.PersistentVolume) *v1.PersistentVolume {
	best, err := volume.FindMatchingVolume(claim, volumes, nil, nil, false, true)
	if err != nil {
		return nil
	}
	return best
}
