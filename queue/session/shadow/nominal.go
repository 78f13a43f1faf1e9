package shadow

import "time"

// Nominal durations of attempts. Measured: averages of real schedulers that logged at -v=6.
const (
	// attemptTime and attemptTimePerNode determine the duration of a scheduling cycle: 0.7 ms with
	// 10 nodes, 0.8 ms with 28, 2.2 ms with 180 and 3.6 ms with 255.
	attemptTime        = 650 * time.Microsecond
	attemptTimePerNode = 11500 * time.Nanosecond
	// preFilterTime is the duration of a cycle in which a PreFilter plugin rejects the pod before
	// any node is evaluated.
	preFilterTime = 350 * time.Microsecond
)

// nominalTime returns the nominal duration of an attempt that evaluates that many nodes.
func nominalTime(nodes int) time.Duration {
	if nodes == 0 {
		return preFilterTime
	}
	return attemptTime + time.Duration(nodes)*attemptTimePerNode
}
