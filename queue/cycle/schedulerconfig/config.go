package schedulerconfig

import (
	"slices"

	"github.com/schedq/schedq/queue"
)

// Config is a kube-scheduler's configuration: what a KubeSchedulerConfiguration file sets, with upstream's
// defaults for the rest. scheduler.New writes to the profiles and extenders that it is given
// (buildExtenders of pkg/scheduler/scheduler.go), so two schedulers must not share a Config.
type Config struct {
	// Queue has the backoff of the file, and the rest from the feature gates and kube-scheduler's flags'
	// defaults.
	Queue queue.Options
	// Release is the minor release whose plugins' events wake pods, such as v1.31. If it is empty or not known, that is
	// the one that is built in.
	Release string
	// Version is the scheduler's, such as v1.31.4, as far as it is known.
	Version string
	// Fixed is true if a person has chosen the release, and nothing that is heard of the scheduler changes it.
	Fixed bool
	// AsyncAPICalls is true if the scheduling loop does not wait until the API server has answered its patch of a pod's
	// status (the gate SchedulerAsyncAPICalls).
	AsyncAPICalls bool
	// Profiles is never empty. The plugins and arguments that upstream adds to each are in it.
	Profiles []Profile
	// Extenders are in the file's order. Upstream asks those that may be ignored after the others.
	Extenders []Extender
	// PercentageOfNodesToScore is how many feasible nodes in a hundred end the search for more; 0 lets
	// upstream choose by the number of nodes. A profile's own overrides it.
	PercentageOfNodesToScore *int32
	// ClientQPS and ClientBurst bound the scheduler's requests to the API server (clientConnection): as
	// many a second in the long run, and as many at once. 50 and 100 by default; a negative ClientQPS
	// sets no bound.
	ClientQPS   float32
	ClientBurst int32

	newest *Config // what it was made of, by In or Of. Nil if it was not
	gated  bool    // AsyncAPICalls is as a gate has it, and not as a release
}

// HasProfile reports whether there is a profile of that scheduler name.
func (c *Config) HasProfile(schedulerName string) bool {
	return slices.ContainsFunc(c.Profiles, func(p Profile) bool { return p.SchedulerName == schedulerName })
}
