package registered

import (
	"context"
	"errors"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// Plugins implements queue.Plugins with the PreEnqueue plugins, registered events and queueing hints of a scheduler's
// profiles. It is immutable after its profiles are registered.
type Plugins struct {
	profiles map[string]*profilePlugins // by scheduler name
	first    string                     // profile for pods with unknown scheduler names
	events   []fwk.ClusterEvent         // registered by any plugin
}

// profilePlugins are the plugins of a profile.
type profilePlugins struct {
	preEnqueue []fwk.PreEnqueuePlugin // sorted by name: upstream's order is a map's
	registered map[string][]fwk.ClusterEventWithHint
}

var _ queue.Plugins = (*Plugins)(nil)

// NewPlugins returns Plugins without profiles. first is the scheduler name of the first profile.
func NewPlugins(first string) *Plugins {
	return &Plugins{profiles: map[string]*profilePlugins{}, first: first}
}

// AddProfile adds a profile with its scheduler name and PreEnqueue plugins.
func (p *Plugins) AddProfile(name string, preEnqueue []fwk.PreEnqueuePlugin) {
	sorted := slices.SortedFunc(slices.Values(preEnqueue), func(a, b fwk.PreEnqueuePlugin) int { return strings.Compare(a.Name(), b.Name()) })
	p.profiles[name] = &profilePlugins{preEnqueue: sorted, registered: map[string][]fwk.ClusterEventWithHint{}}
}

// Register adds a plugin's registered events to a profile. It models buildQueueingHintMap in pkg/scheduler/scheduler.go.
func (p *Plugins) Register(profile, plugin string, events []fwk.ClusterEventWithHint) {
	pp := p.profiles[profile]
	for _, e := range Unrolled(events) {
		pp.registered[plugin] = append(pp.registered[plugin], e)
		if !slices.Contains(p.events, e.Event) {
			p.events = append(p.events, e.Event)
		}
	}
}

// profileOf returns the plugins of pod's profile.
func (p *Plugins) profileOf(pod *v1.Pod) *profilePlugins {
	if pp, ok := p.profiles[pod.Spec.SchedulerName]; ok {
		return pp
	}
	return p.profiles[p.first]
}

// PreEnqueue implements queue.Plugins.
func (p *Plugins) PreEnqueue(pod *v1.Pod, gating string) string {
	ctx := klog.NewContext(context.Background(), klog.Logger{}) // discard upstream's log
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
	return slices.ContainsFunc(p.events, func(e fwk.ClusterEvent) bool { return matches(e, event) })
}

// Registered implements queue.Plugins. It returns true for plugins that no profile has.
func (p *Plugins) Registered(plugin string, event fwk.ClusterEvent) bool {
	known := false
	for _, pp := range p.profiles {
		registered, ok := pp.registered[plugin]
		known = known || ok
		if slices.ContainsFunc(registered, func(r fwk.ClusterEventWithHint) bool { return matches(r.Event, event) }) {
			return true
		}
	}
	return !known
}

// Hint implements queue.Plugins. For an event without objects, such as an injected one, it returns Queue without calling
// the hint function.
func (p *Plugins) Hint(plugin string, pod *v1.Pod, event fwk.ClusterEvent, oldObj, newObj any) (fwk.QueueingHint, error) {
	registered, known := p.profileOf(pod).registered[plugin]
	if !known {
		return fwk.Queue, nil
	}
	var failed error
	for _, r := range registered {
		if !matches(r.Event, event) {
			continue
		}
		if r.QueueingHintFn == nil || oldObj == nil && newObj == nil {
			return fwk.Queue, nil
		}
		hint, err := r.QueueingHintFn(klog.Logger{}, pod, oldObj, newObj)
		if err == nil && hint == fwk.Queue {
			return fwk.Queue, nil
		}
		failed = errors.Join(failed, err)
	}
	return fwk.QueueSkip, failed
}

// matches reports whether event is one of the registered events. It models MatchClusterEvents in framework/types.go.
func matches(registered, event fwk.ClusterEvent) bool {
	if registered.Resource == fwk.WildCard && registered.ActionType == fwk.All {
		return true
	}
	sameResource := registered.Resource == fwk.WildCard || registered.Resource == event.Resource ||
		registered.Resource == fwk.Pod && slices.Contains(podResources, event.Resource)
	return sameResource && registered.ActionType&event.ActionType != 0 && event.ActionType <= registered.ActionType
}
