package pace

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// How long an attempt takes nominally. Measured: averages of real schedulers that logged at -v=6.
const (
	// AttemptTime and attemptTimePerNode are a scheduling cycle's: 0.7 ms with 10 nodes, 0.8 ms with 28, 2.2 ms with
	// 180 and 3.6 ms with 255.
	AttemptTime        = 650 * time.Microsecond
	attemptTimePerNode = 11500 * time.Nanosecond
	// preFilterTime is that of a cycle where a PreFilter plugin rejected the pod before any node was looked at.
	preFilterTime = 350 * time.Microsecond
)

// Nominal returns how long an attempt takes nominally in which that many nodes were looked at.
func Nominal(nodes int) time.Duration {
	if nodes == 0 {
		return preFilterTime
	}
	return AttemptTime + time.Duration(nodes)*attemptTimePerNode
}

// Kind is what of a pod makes an attempt of it longer than others' on the same nodes.
type Kind int

const (
	Plain   Kind = iota
	Devices      // it has claims for devices, for which those of each node are searched
	kinds
)

// KindOf returns pod's kind. A pod that is not known is plain.
func KindOf(pod *v1.Pod) Kind {
	if pod != nil && len(pod.Spec.ResourceClaims) > 0 {
		return Devices
	}
	return Plain
}
