package cycle

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/schedq/schedq/queue/cycle/local"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// WatchOnly is true in a build without kube-scheduler.
const WatchOnly = false

// What package local has, under the names by which all others know it.
type (
	Scheduler = local.Scheduler
	Plugins   = local.Plugins
	Attempt   = local.Attempt
	Reason    = local.Reason
	Binding   = local.Binding
	Eviction  = local.Eviction
	Write     = local.Write
	Verdict   = local.Verdict
	Diagnosis = local.Diagnosis
	NodeLacks = local.NodeLacks
	Lack      = local.Lack
	Shortage  = local.Shortage
)

// New returns a scheduler over an empty cluster: see local.New.
func New(cfg *schedulerconfig.Config, seed uint64) (*Scheduler, error) { return local.New(cfg, seed) }

// NewFollower returns the scheduler of a model that follows a scheduler at work: it is a new one.
func NewFollower(cfg *schedulerconfig.Config) (*Scheduler, error) { return local.New(cfg, 0) }

// Available returns why no scheduler can be run here. It is nil.
func Available() error { return nil }

// Check reports whether a scheduler can be set up with cfg.
func Check(cfg *schedulerconfig.Config) error { return local.Check(cfg) }

// InTree returns the plugins of kube-scheduler's default profiles over an empty cluster.
func InTree() (*Plugins, error) { return local.InTree() }

// PluginsOf returns the plugins of a scheduler with that configuration over an empty cluster.
func PluginsOf(cfg *schedulerconfig.Config) (*Plugins, error) { return local.PluginsOf(cfg) }

// MatchingVolume returns which of the volumes the volume controller binds claim to, or nil if none will do.
func MatchingVolume(claim *v1.PersistentVolumeClaim, volumes []*v1.PersistentVolume) *v1.PersistentVolume {
	best, err := volume.FindMatchingVolume(claim, volumes, nil, nil, false, true)
	if err != nil {
		return nil
	}
	return best
}
