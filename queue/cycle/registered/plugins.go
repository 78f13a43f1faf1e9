package registered

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// Plugins answers the queue by what plugins say: their PreEnqueue checks, the events that they registered for, and their
// queueing hint functions, of each profile. Once it is made, it is never modified.
type Plugins struct {
	profiles map[string]*profilePlugins // by scheduler name
	first    string                     // whose plugins answer for pods of a scheduler that is not here
	events   []fwk.ClusterEvent         // that any plugin registered for
}

// profilePlugins are one profile's.
type profilePlugins struct {
	preEnqueue []fwk.PreEnqueuePlugin // by name: upstream's order is that of a map
	registered map[string][]fwk.ClusterEventWithHint
}

var _ queue.Plugins = (*Plugins)(nil)

// NewPlugins returns the plugins of no profile yet. first is the first profile's scheduler name.
func NewPlugins(first string) *Plugins {
	return &Plugins{profiles: map[string]*profilePlugins{}, first: first}
}

// AddProfile adds a profile of that scheduler name, of which these plugins are asked before a pod is queued.
func (p *Plugins) AddProfile(name string, preEnqueue []fwk.PreEnqueuePlugin) {
	sorted := slices.SortedFunc(slices.Values(preEnqueue), func(a, b fwk.PreEnqueuePlugin) int { return strings.Compare(a.Name(), b.Name()) })
	p.profiles[name] = &profilePlugins{preEnqueue: sorted, registered: map[string][]fwk.ClusterEventWithHint{}}
}

// Register notes for a profile what a plugin registered for, as buildQueueingHintMap of pkg/scheduler/scheduler.go does.
func (p *Plugins) Register(profile, plugin string, events []fwk.ClusterEventWithHint) {
	pp := p.profiles[profile]
	for _, e := range Unrolled(events) {
		pp.registered[plugin] = append(pp.registered[plugin], e)
		if !slices.Contains(p.events, e.Event) {
			p.events = append(p.events, e.Event)
		}
	}
}

// ByTable returns the plugins of profiles with these scheduler names, of which there is one at least, as the table of that
// release has them, or the newest if release is "" or not known. Hint functions are not in a table: each event that a plugin
// registered for wakes. Of the PreEnqueue plugins there is SchedulingGates, for the others look into a cluster.
func ByTable(release string, profiles ...string) (*Plugins, error) {
	table, err := In(release)
	if table == nil && err == nil {
		table, err = read(newest)
	}
	if err != nil {
		return nil, fmt.Errorf("can't read what the plugins of %s registered for: %w", release, err)
	}
	p := NewPlugins(profiles[0])
	for _, name := range profiles {
		p.AddProfile(name, []fwk.PreEnqueuePlugin{schedulingGates{}})
		for plugin, events := range table {
			for _, e := range events {
				p.Register(name, plugin, []fwk.ClusterEventWithHint{{Event: e.ClusterEvent}})
			}
		}
	}
	return p, nil
}

// schedulingGates is the plugin SchedulingGates without its hint.
type schedulingGates struct{}

// Name implements fwk.PreEnqueuePlugin.
func (schedulingGates) Name() string { return queue.SchedulingGates }

// PreEnqueue implements fwk.PreEnqueuePlugin.
func (schedulingGates) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	if len(pod.Spec.SchedulingGates) == 0 {
		return nil
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
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
	ctx := klog.NewContext(context.Background(), klog.Logger{}) // upstream logs what the model tells by other means
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

// Registered implements queue.Plugins. A plugin that no profile has may have registered for anything.
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

// Hint implements queue.Plugins. An event without any object, as a person injects it, may help every pod
// whose rejector plugins registered for it: there is nothing for a hint function to look at.
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

// matches reports whether what a plugin registered for is event, or more. (framework/types.go, MatchClusterEvents.)
func matches(registered, event fwk.ClusterEvent) bool {
	if registered.Resource == fwk.WildCard && registered.ActionType == fwk.All {
		return true
	}
	of := registered.Resource == fwk.WildCard || registered.Resource == event.Resource ||
		registered.Resource == fwk.Pod && slices.Contains(kindsOfPod, event.Resource)
	return of && registered.ActionType&event.ActionType != 0 && event.ActionType <= registered.ActionType
}
