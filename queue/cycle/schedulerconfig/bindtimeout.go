package schedulerconfig

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// defaultBindTimeout is the default in SetDefaults_VolumeBindingArgs of apis/config/v1/defaults.go.
const defaultBindTimeout = 600 * time.Second

// BindTimeout returns how long a profile waits for a pod's volumes before the binding: BindTimeoutSeconds of
// VolumeBindingArgs.
func (c *Config) BindTimeout(profile string) time.Duration {
	if args, ok := c.pluginArgs(profile, names.VolumeBinding).(*schedulerapi.VolumeBindingArgs); ok {
		return time.Duration(args.BindTimeoutSeconds) * time.Second
	}
	return defaultBindTimeout
}

// DeviceBindTimeout returns how long a profile waits for a pod's devices before the binding: BindingTimeout of
// DynamicResourcesArgs.
func (c *Config) DeviceBindTimeout(profile string) time.Duration {
	if args, ok := c.pluginArgs(profile, names.DynamicResources).(*schedulerapi.DynamicResourcesArgs); ok && args.BindingTimeout != nil {
		return args.BindingTimeout.Duration
	}
	return schedulerapi.DynamicResourcesBindingTimeoutDefault
}

// pluginArgs returns the arguments of a plugin in a profile, or nil.
func (c *Config) pluginArgs(profile, plugin string) runtime.Object {
	for _, p := range c.Profiles {
		if p.SchedulerName != profile {
			continue
		}
		if i := slices.IndexFunc(p.PluginConfig, func(c schedulerapi.PluginConfig) bool { return c.Name == plugin }); i >= 0 {
			return p.PluginConfig[i].Args
		}
	}
	return nil
}
