package schedulerconfig

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// defaultBindTimeout is upstream's (apis/config/v1/defaults.go, SetDefaults_VolumeBindingArgs).
const defaultBindTimeout = 600 * time.Second

// BindTimeout returns for how long that profile waits for a pod's volumes before it binds the pod (VolumeBindingArgs,
// BindTimeoutSeconds).
func (c *Config) BindTimeout(profile string) time.Duration {
	if args, ok := c.pluginArgs(profile, names.VolumeBinding).(*schedulerapi.VolumeBindingArgs); ok {
		return time.Duration(args.BindTimeoutSeconds) * time.Second
	}
	return defaultBindTimeout
}

// DeviceBindTimeout returns for how long that profile waits until a pod's devices are ready before it binds the pod
// (DynamicResourcesArgs, BindingTimeout).
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
