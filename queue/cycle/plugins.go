package cycle

import (
	"context"
	"fmt"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/schedq/schedq/queue/cycle/registered"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// Plugins answers the queue by what upstream's plugins say.
type Plugins = registered.Plugins

// PluginsIn collects what the profiles' plugins registered, or those of that older release, unless it is "". first is the first
// profile's scheduler name.
func PluginsIn(ctx context.Context, profiles profile.Map, first, release string) (*Plugins, error) {
	older, err := registered.In(release)
	if err != nil {
		return nil, fmt.Errorf("can't read what the plugins of %s registered for: %w", release, err)
	}
	p := registered.NewPlugins(first)
	for name, f := range profiles {
		p.AddProfile(name, f.PreEnqueuePlugins())
		for _, plugin := range f.EnqueueExtensions() {
			events, err := plugin.EventsToRegister(ctx)
			if err != nil {
				return nil, fmt.Errorf("can't ask %s for its events: %w", plugin.Name(), err)
			}
			if of, ok := older[plugin.Name()]; ok {
				events = registered.WithHints(of, events)
			}
			p.Register(name, plugin.Name(), events)
		}
	}
	return p, nil
}

// quiet returns ctx with a logger that says nothing: upstream logs what the model tells by other means.
func quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

// InTree returns the plugins of kube-scheduler's default profiles over an empty cluster.
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
