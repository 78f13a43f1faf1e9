package shadow

import "time"

// How long an attempt takes nominally. Measured: averages of real schedulers that logged at -v=6.
const (
	// attemptTime and attemptTimePerNode are a scheduling cycle's: 0.7 ms with 10 nodes, 0.8 ms with 28, 2.2 ms with
	// 180 and 3.6 ms with 255.
	attemptTime        = 650 * time.Microsecond
	attemptTimePerNode = 11500 * time.Nanosecond
	// preFilterTime is that of a cycle where a PreFilter plugin rejected the pod before any node was looked at.
	preFilterTime = 350 * time.Microsecond
)

// nominalTime returns how long an attempt takes nominally in which that many nodes were looked at.
func nominalTime(nodes int) time.Duration {
	if nodes == 0 {
		return preFilterTime
	}
	return attemptTime + time.Duration(nodes)*attemptTimePerNode
}
