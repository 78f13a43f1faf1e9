package schedulerconfig

import (
	"slices"

	"github.com/schedq/schedq/queue"
)

// Config is a kube-scheduler's configuration: a KubeSchedulerConfiguration completed with upstream's defaults.
// scheduler.New modifies its profiles and extenders (buildExtenders in pkg/scheduler/scheduler.go), so two schedulers
// must not share a Config.
type Config struct {
	// Queue contains the file's backoff. Its other options follow from the feature gates and the defaults of
	// kube-scheduler's flags.
	Queue queue.Options
	// Release is the minor release whose plugins determine the events that wake pods, such as v1.31. If it is empty or
	// unknown, the built-in release applies.
	Release string
	// Version is the scheduler's version, such as v1.31.4, if known.
	Version string
	// Fixed is true if the user chose the release, so that observed versions do not change it.
	Fixed bool
	// AsyncAPICalls is the feature gate SchedulerAsyncAPICalls: the scheduling loop does not wait for the API server's
	// response to its status patches.
	AsyncAPICalls bool
	// Ignored are sentences about what the file has and kube-scheduler v1.37 does not: a newer release may.
	Ignored []string
	// Profiles is not empty. It includes the plugins and arguments that upstream adds.
	Profiles []Profile
	// Extenders are in the file's order. Upstream calls ignorable extenders last.
	Extenders []Extender
	// PercentageOfNodesToScore is the percentage of feasible nodes that ends the search; 0 lets upstream choose by
	// the number of nodes. A profile can override it.
	PercentageOfNodesToScore *int32
	// ClientQPS and ClientBurst limit the scheduler's requests to the API server (clientConnection): the rate per
	// second and the burst. They default to 50 and 100; a negative ClientQPS disables the limit.
	ClientQPS   float32
	ClientBurst int32

	newest *Config // the Config from which ForRelease or ForVersion derived this one, or nil
	gated  bool    // AsyncAPICalls follows a feature gate and not the release
}

// HasProfile reports whether there is a profile with that scheduler name.
func (c *Config) HasProfile(schedulerName string) bool {
	return slices.ContainsFunc(c.Profiles, func(p Profile) bool { return p.SchedulerName == schedulerName })
}
