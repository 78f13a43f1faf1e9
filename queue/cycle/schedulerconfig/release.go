package schedulerconfig

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/schedq/schedq/queue"
)

// In returns c as a scheduler of that release would have it, one of queue.Releases: with the rules of its queue, and the
// events that its plugins registered for. It fails if the release is not known.
func (c *Config) In(release string) (*Config, error) {
	newest := cmp.Or(c.newest, c)
	of := *newest
	of.newest = newest
	var err error
	if of.Queue, err = newest.Queue.In(release); err != nil {
		return nil, err
	}
	of.Release, of.Version, of.Fixed = release, c.Version, c.Fixed
	return &of, nil
}

// Of returns c as kube-scheduler of that version, such as v1.31.4, would have it: as In for the release whose rules it has,
// or the nearest, and for what is known of the very version. It returns c if version is no version.
func (c *Config) Of(version string) *Config {
	name, _ := queue.ReleaseFor(version)
	newest := cmp.Or(c.newest, c)
	of := new(*newest) // of its own release it is as it is, pod groups included
	if name != queue.Releases()[0] {
		var err error
		if of, err = newest.In(name); err != nil {
			return c
		}
	}
	of.newest, of.Fixed = newest, c.Fixed
	if of.Version = version; !of.gated {
		of.AsyncAPICalls = AsyncAPICalls(version)
	}
	return of
}

// Heard returns c, or c of that version if it is another one than c's and nobody has fixed that: then it runs from now on.
func (c *Config) Heard(version string) (of *Config, other bool) {
	if name, _ := queue.ReleaseFor(version); name == "" || c.Fixed || bare(version) == bare(c.Version) {
		return c, false
	}
	return c.Of(version), true
}

// bare returns a version without what its builder added, v1.31.4 for v1.31.4-eks-1234567 and v1.31.4+k3s1: a scheduler does
// not call itself the same everywhere (adjustVersion of client-go's rest/config.go).
func bare(version string) string {
	if i := strings.IndexAny(version, "-+_"); i >= 0 {
		return version[:i]
	}
	return version
}

// SetAsyncAPICalls sets the gate SchedulerAsyncAPICalls, whatever the release.
func (c *Config) SetAsyncAPICalls(on bool) { c.AsyncAPICalls, c.gated = on, true }

// AsyncAPICalls reports whether that version of kube-scheduler, such as v1.35.0, has SchedulerAsyncAPICalls on by default:
// v1.34.0, v1.34.1 and v1.35.0 have (pkg/features/kube_features.go); the patches that followed took it back.
func AsyncAPICalls(version string) bool {
	var minor, patch int
	if _, err := fmt.Sscanf(version, "v1.%d.%d", &minor, &patch); err != nil {
		return false
	}
	return minor == 34 && patch <= 1 || minor == 35 && patch == 0
}

// APICallsAtOnce returns how many calls are under way at once that the loop does not wait for. In v1.34 it is as many as its parallelism, by default 16
// (backend/api_dispatcher/goroutines_limiter.go). Since v1.35 it is any number, which is 0 here.
func (c *Config) APICallsAtOnce() int {
	if c.Minor() == 34 {
		return 16
	}
	return 0
}

// GatesUntilEvicted reports whether a preemptor is gated until its last victim is being deleted. Up to v1.34 it is only until that
// one is left: prepareCandidateAsync (v1.33, preemption.go) took it out of those that preempt before the last victim's turn, and
// kubernetes#134730, which came with v1.35, does so after it.
func (c *Config) GatesUntilEvicted() bool { return c.Minor() > 34 }

// FreesAssumed reports whether the place of a pod is free as soon as it is deleted while its binding is under way. Up to v1.34 it is
// when that has failed (eventhandlers.go, handleAssumedPodDeletion, which came with v1.35).
func (c *Config) FreesAssumed() bool { return c.Minor() > 34 }

// AsyncPreemption reports whether victims are deleted beside the loop, and their preemptor is gated until then. Up to v1.32 the loop waits for
// the answers (SchedulerAsyncPreemption, which is on by default since v1.33). The feature gate can turn that of the newest off.
func (c *Config) AsyncPreemption() bool { return c.Minor() > 32 }

// DeallocatesClaims reports whether the plugin DynamicResources is asked to make room for a pod. Before v1.34 it was off by default
// (pkg/features/kube_features.go, DynamicResourceAllocation).
func (c *Config) DeallocatesClaims() bool { return c.Minor() > 33 }

// Minor returns the minor version of c's release, 33 of v1.33. Of one that is not known it is that of a release to come.
func (c *Config) Minor() int {
	var minor int
	if _, err := fmt.Sscanf(cmp.Or(c.Version, c.Release), "v1.%d", &minor); err != nil {
		return math.MaxInt
	}
	return minor
}
