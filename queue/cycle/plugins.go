package cycle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/registered"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// Plugins answers the queue by what upstream's plugins say: their PreEnqueue checks, the events that they
// registered for, and their queueing hint functions, of each profile. It is never modified.
type Plugins struct {
	profiles map[string]*profilePlugins // by scheduler name
	first    *profilePlugins            // for pods of a scheduler that is not here
	events   []fwk.ClusterEvent         // that any plugin registered for
}

// profilePlugins are one profile's.
type profilePlugins struct {
	preEnqueue []fwk.PreEnqueuePlugin // by name: upstream's order is that of a map
	registered map[string][]registration
}

// registration is an event that a plugin registered for, and the hint function to ask, if it has one.
type registration struct {
	event fwk.ClusterEvent
	hint  fwk.QueueingHintFn
}

// PluginsIn collects what the profiles' plugins registered, or those of that older release, unless it is "". first is the first
// profile's scheduler name.
func PluginsIn(ctx context.Context, profiles profile.Map, first, release string) (*Plugins, error) {
	older, err := registered.In(release)
	if err != nil {
		return nil, fmt.Errorf("can't read what the plugins of %s registered for: %w", release, err)
	}
	p := &Plugins{profiles: map[string]*profilePlugins{}}
	for name, f := range profiles {
		pp := &profilePlugins{preEnqueue: slices.Clone(f.PreEnqueuePlugins()), registered: map[string][]registration{}}
		slices.SortFunc(pp.preEnqueue, func(a, b fwk.PreEnqueuePlugin) int {
			if a.Name() < b.Name() {
				return -1
			}
			return 1
		})
		for _, plugin := range f.EnqueueExtensions() {
			events, err := plugin.EventsToRegister(ctx)
			if err != nil {
				return nil, fmt.Errorf("can't ask %s for its events: %w", plugin.Name(), err)
			}
			if of, ok := older[plugin.Name()]; ok {
				events = registered.WithHints(of, events)
			}
			for _, e := range registered.Unrolled(events) {
				p.add(pp, plugin.Name(), e)
			}
		}
		p.profiles[name] = pp
	}
	p.first = p.profiles[first]
	return p, nil
}

// add notes an event that a plugin registered for, as buildQueueingHintMap of pkg/scheduler/scheduler.go does.
func (p *Plugins) add(pp *profilePlugins, plugin string, r fwk.ClusterEventWithHint) {
	pp.registered[plugin] = append(pp.registered[plugin], registration{r.Event, r.QueueingHintFn})
	if !slices.Contains(p.events, r.Event) {
		p.events = append(p.events, r.Event)
	}
}

// profileOf returns the plugins of pod's profile.
func (p *Plugins) profileOf(pod *v1.Pod) *profilePlugins {
	if pp, ok := p.profiles[pod.Spec.SchedulerName]; ok {
		return pp
	}
	return p.first
}

// PreEnqueue implements queue.Plugins.
func (p *Plugins) PreEnqueue(pod *v1.Pod, gating string) string {
	ctx := quiet(context.Background())
	plugins := p.profileOf(pod).preEnqueue
	if i := slices.IndexFunc(plugins, func(pl fwk.PreEnqueuePlugin) bool { return pl.Name() == gating }); i >= 0 {
		if !plugins[i].PreEnqueue(ctx, pod).IsSuccess() {
			return gating
		}
	}
	for _, pl := range plugins {
		if pl.Name() != gating && !pl.PreEnqueue(ctx, pod).IsSuccess() {
			return pl.Name()
		}
	}
	return ""
}

// Interested implements queue.Plugins.
func (p *Plugins) Interested(event fwk.ClusterEvent) bool {
	return slices.ContainsFunc(p.events, func(e fwk.ClusterEvent) bool { return framework.MatchClusterEvents(e, event) })
}

// Registered implements queue.Plugins. A plugin that no profile has may have registered for anything.
func (p *Plugins) Registered(plugin string, event fwk.ClusterEvent) bool {
	known := false
	for _, pp := range p.profiles {
		registered, ok := pp.registered[plugin]
		known = known || ok
		if slices.ContainsFunc(registered, func(r registration) bool { return framework.MatchClusterEvents(r.event, event) }) {
			return true
		}
	}
	return !known
}

// Hint implements queue.Plugins. An event without any object, as a person injects it, may help every pod
// whose rejector plugins registered for it: there is nothing for a hint function to look at.
func (p *Plugins) Hint(plugin string, pod *v1.Pod, event fwk.ClusterEvent, oldObj, newObj any) (fwk.QueueingHint, error) {
	registered, known := p.profileOf(pod).registered[plugin]
	if !known {
		return fwk.Queue, nil
	}
	var failed error
	for _, r := range registered {
		if !framework.MatchClusterEvents(r.event, event) {
			continue
		}
		if r.hint == nil || oldObj == nil && newObj == nil {
			return fwk.Queue, nil
		}
		hint, err := r.hint(klog.Logger{}, pod, oldObj, newObj)
		if err == nil && hint == fwk.Queue {
			return fwk.Queue, nil
		}
		failed = errors.Join(failed, err)
	}
	return fwk.QueueSkip, failed
}

var _ queue.Plugins = (*Plugins)(nil)

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
