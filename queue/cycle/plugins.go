package cycle

import (
	"context"
	"fmt"

	"k8s.io/klog/v2"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/schedq/schedq/queue/cycle/registered"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// Plugins implements queue.Plugins with upstream's plugins.
type Plugins = registered.Plugins

// PluginsIn returns the profiles' plugins with the events that they registered for, or registered for in an older
// release if release is not empty. first is the scheduler name of the first profile.
func PluginsIn(ctx context.Context, profiles profile.Map, first, release string) (*Plugins, error) {
	older, err := registered.In(release)
	if err != nil {
		return nil, fmt.Errorf("reading the registered events of %s: %w", release, err)
	}
	p := registered.NewPlugins(first)
	for name, f := range profiles {
		p.AddProfile(name, f.PreEnqueuePlugins())
		for _, plugin := range f.EnqueueExtensions() {
			events, err := plugin.EventsToRegister(ctx)
			if err != nil {
				return nil, fmt.Errorf("getting the events of plugin %s: %w", plugin.Name(), err)
			}
			if olderEvents, ok := older[plugin.Name()]; ok {
				events = registered.WithHints(olderEvents, events)
			}
			p.Register(name, plugin.Name(), events)
		}
	}
	return p, nil
}

// quiet returns ctx with a logger that discards upstream's log.
func quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

// InTree returns the plugins of kube-scheduler's default configuration over an empty cluster.
func InTree() (*Plugins, error) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		return nil, err
	}
	return PluginsOf(cfg)
}

// PluginsOf returns the plugins of a scheduler with that configuration over an empty cluster.
func PluginsOf(cfg *schedulerconfig.Config) (*Plugins, error) {
	s, err := New(cfg, 0)
	if err != nil {
		return nil, err
	}
	s.Close()
	return s.plugins, nil
}

// enabled returns the names of the plugins at an extension point, in their order.
func enabled(at schedulerapi.PluginSet) []string {
	var all []string
	for _, p := range at.Enabled {
		all = append(all, p.Name)
	}
	return all
}
