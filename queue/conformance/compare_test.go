package conformance

import (
	"reflect"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	k8smetrics "k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/schedq/schedq/queue"
)

// state is all that a queue stores about a pod, in comparable form.
type state struct {
	pod                                    *v1.Pod // the object itself
	tier                                   string
	attempts, unschedulable, errors        int
	timestamp, initial, expiry, flushed    time.Time
	unschedulablePlugins, pending, gatedBy string
}

// compare fails if the queues differ.
func (p *pair) compare() {
	tiers := p.upstreamTiers()
	counts := map[queue.Tier]int{}
	for _, name := range p.names {
		info, ok := p.ours.Get("default", name)
		if !ok || info.Tier == queue.InFlight {
			if tiers[name] != "" {
				p.differ("%s is in no tier, upstream has it %s", name, tiers[name])
			}
			continue
		}
		counts[info.Tier]++
		theirs := p.upstreamState(info.Pod, tiers[name])
		ours := state{
			info.Pod, info.Tier.String(), info.Attempts, info.UnschedulableCount, info.ConsecutiveErrorsCount,
			info.Timestamp, info.InitialAttemptTimestamp, info.BackoffExpiry, info.FlushTimestamp,
			strings.Join(info.UnschedulablePlugins, ","), strings.Join(info.PendingPlugins, ","), info.GatingPlugin,
		}
		if theirs.pod == nil && theirs.tier == queue.Pending.String() {
			ours = state{tier: ours.tier}
		}
		if theirs.expiry.IsZero() {
			ours.expiry = time.Time{} // upstream computes it on first use
		}
		if info.Pod.Spec.SchedulingGroup != nil {
			ours.flushed = time.Time{} // its group's
		}
		if ours != theirs {
			p.differ("%s: %+v\nupstream: %+v", name, ours, theirs)
		}
	}
	p.compareInFlight()
	p.compareGroups()
	for _, node := range []string{"n-1", "n-2"} {
		if ours, theirs := names(p.ours.NominatedPodsForNode(node)), infoNames(p.upstream.NominatedPodsForNode(node)); !slices.Equal(ours, theirs) {
			p.differ("%v are nominated for %s, upstream %v", ours, node, theirs)
		}
	}
	p.compareGauges(counts)
	if len(p.script)%64 == 0 { // counters only grow, so a difference remains
		p.compareCounters()
	}
	p.compareTrail()
	p.compareForks()
}

// gauges returns upstream's scheduler_pending_pods.
func gauges() map[queue.Tier]k8smetrics.GaugeMetric {
	return map[queue.Tier]k8smetrics.GaugeMetric{
		queue.Active: metrics.ActivePods(), queue.Backoff: metrics.BackoffPods(), queue.Unschedulable: metrics.UnschedulablePods(),
		queue.Gated: metrics.GatedPods(), queue.Incomplete: metrics.IncompletePodGroupPods(), queue.Pending: metrics.PendingPodGroupPods(),
	}
}

// compareGauges compares the numbers of pods by tier.
func (p *pair) compareGauges(counts map[queue.Tier]int) {
	for tier, gauge := range p.gauges {
		theirs, err := testutil.GetGaugeMetricValue(gauge)
		p.check(err)
		if n := p.ours.PendingPods(tier); n != counts[tier] || n != int(theirs) {
			p.differ("PendingPods(%s) is %d, want %d; upstream's gauge is %v", tier, n, counts[tier], theirs)
		}
	}
}

// compareCounters compares the numbers of incoming pods by queue and event.
func (p *pair) compareCounters() {
	ours := p.ours.IncomingPodsTotal()
	for _, event := range incomingEvents() {
		for _, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable} {
			labels := queue.Incoming{Queue: tier, Event: event}
			theirs, err := testutil.GetCounterMetricValue(metrics.SchedulerQueueIncomingPods.WithLabelValues(tier.String(), event))
			if p.check(err); int64(theirs) != ours[labels] {
				p.differ("queue_incoming_pods_total%v is %d, upstream %v", labels, ours[labels], theirs)
			}
			delete(ours, labels)
		}
	}
	if len(ours) > 0 {
		p.differ("queue_incoming_pods_total has %v", ours)
	}
}

// incomingEvents returns the labels of all events that move pods in these tests.
func incomingEvents() []string {
	labels := []string{queue.ScheduleAttemptFailure, queue.BackoffComplete, queue.PopFromBackoffQ, queue.ForceActivate, queue.UnschedulableTimeout,
		framework.EventUnscheduledPodAdd.Label(), framework.EventUnscheduledPodUpdate.Label(),
		fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All}.Label(), fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.Update}.Label()}
	for _, e := range slices.Concat(clusterEvents, podEvents) {
		labels = append(labels, e.Label())
	}
	return labels
}

// compareInFlight compares the pods in flight and the events during their attempts.
func (p *pair) compareInFlight() {
	events := p.upstreamEvents()
	objects := map[types.UID]*v1.Pod{}
	for _, pod := range p.upstream.InFlightPods() {
		objects[pod.UID] = pod
	}
	n := 0
	for info := range p.ours.InFlight() {
		uid := info.Pod.UID
		if n++; objects[uid] != info.Pod {
			p.differ("%s is in flight as %p, upstream as %p", info.Pod.Name, info.Pod, objects[uid])
		}
		var ours []string
		for _, e := range p.ours.EventsInFlight(uid) {
			ours = append(ours, e.Label())
		}
		if !slices.Equal(ours, events[uid]) {
			p.differ("%v came while %s was tried, upstream %v", ours, info.Pod.Name, events[uid])
		}
	}
	if n != len(objects) || p.ours.PendingPods(queue.InFlight) != n || p.ours.SchedulingCycle() != p.upstream.SchedulingCycle() {
		p.differ("%d in flight, cycle %d; upstream %d, cycle %d", n, p.ours.SchedulingCycle(), len(objects), p.upstream.SchedulingCycle())
	}
}

// upstreamEvents returns the labels of the events during the attempt of each pod in flight.
// Upstream's list also contains the pods.
func (p *pair) upstreamEvents() map[types.UID][]string {
	after := map[types.UID][]string{}
	active := reflect.ValueOf(p.upstream).Elem().FieldByName("activeQ").Elem().UnsafePointer()
	for _, value := range listInFlightEvents(active) {
		if pod, ok := value.(*v1.Pod); ok {
			after[pod.UID] = nil
			continue
		}
		e := reflect.ValueOf(value).Elem().FieldByName("event")
		label := fwk.ClusterEvent{Resource: fwk.EventResource(e.FieldByName("Resource").String()),
			ActionType: fwk.ActionType(e.FieldByName("ActionType").Int()), CustomLabel: e.FieldByName("CustomLabel").String()}.Label()
		for uid := range after {
			after[uid] = append(after[uid], label)
		}
	}
	return after
}

// comparePopped compares the states of a popped pod.
func (p *pair) comparePopped(info queue.PodInfo, theirs *framework.QueuedPodInfo) {
	ours := state{info.Pod, "", info.Attempts, info.UnschedulableCount, info.ConsecutiveErrorsCount,
		info.Timestamp, info.InitialAttemptTimestamp, time.Time{}, info.FlushTimestamp,
		strings.Join(info.UnschedulablePlugins, ","), strings.Join(info.PendingPlugins, ","), info.GatingPlugin}
	want := stateOf(theirs)
	if want.expiry = (time.Time{}); info.Pod.Spec.SchedulingGroup != nil {
		ours.flushed = time.Time{} // its group's
	}
	if ours != want {
		p.differ("popped %+v\nupstream: %+v", ours, want)
	}
}

// upstreamTiers returns the tier of every pod, or both tiers of a pod that is in two.
func (p *pair) upstreamTiers() map[string]string {
	tiers := map[string]string{}
	for tier, pods := range map[queue.Tier][]*v1.Pod{
		queue.Active: p.upstream.PodsInActiveQ(), queue.Backoff: p.upstream.PodsInBackoffQ(), queue.Unschedulable: p.upstream.UnschedulablePods(),
		queue.Incomplete: p.upstream.IncompletePodGroupPodsPods(), queue.Pending: p.upstream.PendingPodGroupPods(),
	} {
		for _, pod := range pods {
			tiers[pod.Name] += tier.String()
		}
	}
	return tiers
}

func (p *pair) upstreamState(pod *v1.Pod, tier string) state {
	info, ok := p.upstream.GetPod(pod.Name, "default", pod.Spec.SchedulingGroup)
	if !ok { // a group that was freed and created again cannot be read
		return state{tier: tier}
	}
	gated := info.Gated()
	if pod.Spec.SchedulingGroup != nil && tier == queue.Unschedulable.String() {
		if group, ok := p.upstream.GetPodGroup(*pod.Spec.SchedulingGroup.PodGroupName, "default", fwk.PodGroupKeyType); ok {
			gated = group.Gated()
		}
	}
	if tier == queue.Unschedulable.String() && gated {
		tier = queue.Gated.String()
	}
	s := stateOf(info)
	s.tier = tier
	return s
}

// stateOf returns upstream's state of a pod, without its tier.
func stateOf(info *framework.QueuedPodInfo) state {
	s := state{
		info.Pod, "", info.Attempts, info.UnschedulableCount, info.ConsecutiveErrorsCount,
		info.Timestamp, time.Time{}, info.BackoffExpiration, info.FlushTimestamp,
		strings.Join(sets.List(info.UnschedulablePlugins), ","), strings.Join(sets.List(info.PendingPlugins), ","), info.GatingPlugin,
	}
	if info.InitialAttemptTimestamp != nil {
		s.initial = *info.InitialAttemptTimestamp
	}
	return s
}

func names(pods []*v1.Pod) (s []string) {
	for _, pod := range pods {
		s = append(s, pod.Name)
	}
	return s
}

func infoNames(pods []fwk.PodInfo) (s []string) {
	for _, info := range pods {
		s = append(s, info.GetPod().Name)
	}
	return s
}
