// Package cycle asks kube-scheduler's own plugins, v1.37.1, what the queue wants to know.
package cycle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
)

// Plugins answers the queue by what upstream's plugins registered: each plugin's EventsToRegister and the
// queueing hint functions in it, of the default profile with the default feature gates. It is never
// modified. Gates are those of queue.EveryEvent.
type Plugins struct {
	queue.EveryEvent
	registered map[string][]registration
}

// registration is an event that a plugin registered for, and the hint function to ask, if it has one.
type registration struct {
	event fwk.ClusterEvent
	hint  fwk.QueueingHintFn
}

// InTree returns the plugins of kube-scheduler's default profile. It contacts nobody.
func InTree() (*Plugins, error) {
	// The client is never used: no informer is started.
	client, err := kubernetes.NewForConfig(&rest.Config{})
	if err != nil {
		return nil, fmt.Errorf("can't set kube-scheduler's plugins up: %w", err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	defer cancel()
	recorder := func(string) events.EventRecorderLogger { return nil }
	sched, err := scheduler.New(ctx, client, informers.NewSharedInformerFactory(client, 0), nil, recorder)
	if err != nil {
		return nil, fmt.Errorf("can't set kube-scheduler's plugins up: %w", err)
	}
	p := &Plugins{registered: map[string][]registration{}}
	for _, profile := range sched.Profiles {
		for _, plugin := range profile.EnqueueExtensions() {
			registered, err := plugin.EventsToRegister(ctx)
			if err != nil {
				return nil, fmt.Errorf("can't ask %s for its events: %w", plugin.Name(), err)
			}
			for _, r := range registered {
				p.add(plugin.Name(), r)
			}
		}
	}
	return p, nil
}

// add models buildQueueingHintMap of pkg/scheduler/scheduler.go: events of any pod become those of
// assigned, unscheduled and target pods.
func (p *Plugins) add(plugin string, r fwk.ClusterEventWithHint) {
	unrolled := []fwk.ClusterEvent{r.Event}
	if r.Event.Resource == fwk.Pod {
		unrolled = framework.UnrollPodEvent(r.Event)
	}
	for _, event := range unrolled {
		p.registered[plugin] = append(p.registered[plugin], registration{event, r.QueueingHintFn})
	}
}

// Interested implements queue.Plugins.
func (p *Plugins) Interested(event fwk.ClusterEvent) bool {
	for plugin := range p.registered {
		if p.Registered(plugin, event) {
			return true
		}
	}
	return false
}

// Registered implements queue.Plugins. A plugin that is not in-tree may have registered for anything.
func (p *Plugins) Registered(plugin string, event fwk.ClusterEvent) bool {
	registered, inTree := p.registered[plugin]
	return !inTree || slices.ContainsFunc(registered, func(r registration) bool {
		return framework.MatchClusterEvents(r.event, event)
	})
}

// Hint implements queue.Plugins. An event without any object, as a person injects it, may help every pod
// whose rejector plugins registered for it: there is nothing for a hint function to look at.
func (p *Plugins) Hint(plugin string, pod *v1.Pod, event fwk.ClusterEvent, oldObj, newObj any) (fwk.QueueingHint, error) {
	if !p.Registered(plugin, event) {
		return fwk.QueueSkip, nil
	}
	registered, inTree := p.registered[plugin]
	if !inTree || oldObj == nil && newObj == nil {
		return fwk.Queue, nil
	}
	var failed error
	for _, r := range registered {
		if !framework.MatchClusterEvents(r.event, event) {
			continue
		}
		if r.hint == nil {
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
