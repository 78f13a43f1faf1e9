package schedulerconfig

import (
	"slices"
	"time"

	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// defaultBindTimeout is upstream's (apis/config/v1/defaults.go, SetDefaults_VolumeBindingArgs).
const defaultBindTimeout = 600 * time.Second

// BindTimeout returns for how long that profile waits for a pod's volumes before it binds the pod (VolumeBindingArgs,
// BindTimeoutSeconds).
func (c *Config) BindTimeout(profile string) time.Duration {
	for _, p := range c.Profiles {
		if p.SchedulerName != profile {
			continue
		}
		i := slices.IndexFunc(p.PluginConfig, func(c schedulerapi.PluginConfig) bool { return c.Name == names.VolumeBinding })
		if i < 0 {
			break
		}
		if args, ok := p.PluginConfig[i].Args.(*schedulerapi.VolumeBindingArgs); ok {
			return time.Duration(args.BindTimeoutSeconds) * time.Second
		}
	}
	return defaultBindTimeout
}
