package schedulerconfig

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/schedq/schedq/queue"
)

// ForRelease returns c converted to one of queue.Releases: with the rules of its queue and the events that its plugins
// registered for. It fails if the release is unknown.
func (c *Config) ForRelease(release string) (*Config, error) {
	newest := cmp.Or(c.newest, c)
	converted := *newest
	converted.newest = newest
	var err error
	if converted.Queue, err = newest.Queue.In(release); err != nil {
		return nil, err
	}
	converted.Release, converted.Version, converted.Fixed = release, c.Version, c.Fixed
	return &converted, nil
}

// ForVersion returns c converted to a version of kube-scheduler, such as v1.31.4: to the nearest release, and with the
// differences of the patch release. It returns c if version is invalid.
func (c *Config) ForVersion(version string) *Config {
	name, _ := queue.ReleaseFor(version)
	newest := cmp.Or(c.newest, c)
	converted := new(*newest) // the newest release keeps all options, including pod groups
	if name != queue.Releases()[0] {
		var err error
		if converted, err = newest.ForRelease(name); err != nil {
			return c
		}
	}
	converted.newest, converted.Fixed = newest, c.Fixed
	if converted.Version = version; !converted.gated {
		converted.AsyncAPICalls = AsyncAPICalls(version)
	}
	return converted
}

// WithVersion returns c converted to an observed version, and true, if the version is valid and differs from c's, and c
// is not Fixed. Otherwise it returns c and false.
func (c *Config) WithVersion(version string) (converted *Config, changed bool) {
	if name, _ := queue.ReleaseFor(version); name == "" || c.Fixed || trimSuffix(version) == trimSuffix(c.Version) {
		return c, false
	}
	return c.ForVersion(version), true
}

// trimSuffix returns v1.31.4 for versions such as v1.31.4-eks-1234567 and v1.31.4+k3s1. A scheduler does not report the
// suffix everywhere (adjustVersion in client-go's rest/config.go).
func trimSuffix(version string) string {
	if i := strings.IndexAny(version, "-+_"); i >= 0 {
		return version[:i]
	}
	return version
}

// SetAsyncAPICalls sets the feature gate SchedulerAsyncAPICalls for all releases.
func (c *Config) SetAsyncAPICalls(on bool) { c.AsyncAPICalls, c.gated = on, true }

// AsyncAPICalls reports whether the version enables SchedulerAsyncAPICalls by default, as only v1.34.0, v1.34.1 and v1.35.0
// do (pkg/features/kube_features.go).
func AsyncAPICalls(version string) bool {
	var minor, patch int
	if _, err := fmt.Sscanf(version, "v1.%d.%d", &minor, &patch); err != nil {
		return false
	}
	return minor == 34 && patch <= 1 || minor == 35 && patch == 0
}

// GatesUntilEvicted reports whether a preemptor is gated until the deletion of its last victim has started. Until v1.34, it
// was gated only until the scheduler requested that deletion (prepareCandidateAsync in preemption.go; changed by
// kubernetes#134730).
func (c *Config) GatesUntilEvicted() bool { return c.Minor() > 34 }

// FreesAssumed reports whether the deletion of an assumed pod frees its node immediately. Until v1.34, the node was freed
// when the binding failed (v1.35 added handleAssumedPodDeletion in eventhandlers.go).
func (c *Config) FreesAssumed() bool { return c.Minor() > 34 }

// AsyncPreemption reports whether victims are deleted asynchronously while their preemptor is gated. Until v1.32, the
// scheduling loop waited for the deletions. It ignores the feature gate SchedulerAsyncPreemption, which can disable it
// in v1.37.
func (c *Config) AsyncPreemption() bool { return c.Minor() > 32 }

// DeallocatesClaims reports whether DynamicResources runs as a PostFilter plugin, which can deallocate claims. Before v1.34
// it was off by default (DynamicResourceAllocation in pkg/features/kube_features.go).
func (c *Config) DeallocatesClaims() bool { return c.Minor() > 33 }

// Minor returns the minor version of c's release, such as 33 for v1.33, and math.MaxInt if it is unknown.
func (c *Config) Minor() int {
	var minor int
	if _, err := fmt.Sscanf(cmp.Or(c.Version, c.Release), "v1.%d", &minor); err != nil {
		return math.MaxInt
	}
	return minor
}
