package conformance

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/schedq/schedq/queue"
)

// state is all that a queue knows of a pod, in a form that can be compared.
type state struct {
	tier                                   string
	attempts, unschedulable, errors        int
	timestamp, initial, expiry, flushed    time.Time
	unschedulablePlugins, pending, gatedBy string
}

// compare fails if the queues differ in anything.
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
			info.Tier.String(), info.Attempts, info.UnschedulableCount, info.ConsecutiveErrorsCount,
			info.Timestamp, info.InitialAttemptTimestamp, info.BackoffExpiry, info.FlushTimestamp,
			strings.Join(info.UnschedulablePlugins, ","), strings.Join(info.PendingPlugins, ","), info.GatingPlugin,
		}
		if theirs.expiry.IsZero() {
			ours.expiry = time.Time{} // upstream works it out when it is first asked for
		}
		if info.Pod.Spec.SchedulingGroup != nil {
			ours.flushed = time.Time{} // its group's
		}
		if ours != theirs {
			p.differ("%s: %+v\nupstream: %+v", name, ours, theirs)
		}
	}
	for _, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.Incomplete, queue.Pending} {
		if n := p.ours.PendingPods(tier); n != counts[tier] {
			p.differ("PendingPods(%s) is %d, want %d", tier, n, counts[tier])
		}
	}
	p.compareInFlight()
	p.compareGroups()
	for _, node := range []string{"n-1", "n-2"} {
		if ours, theirs := names(p.ours.NominatedPodsForNode(node)), infoNames(p.upstream.NominatedPodsForNode(node)); !slices.Equal(ours, theirs) {
			p.differ("%v are nominated for %s, upstream %v", ours, node, theirs)
		}
	}
	for labels, n := range p.ours.IncomingPodsTotal() {
		theirs, err := testutil.GetCounterMetricValue(metrics.SchedulerQueueIncomingPods.WithLabelValues(labels.Queue.String(), labels.Event))
		if p.check(err); int64(theirs) != n {
			p.differ("queue_incoming_pods_total%v is %d, upstream %v", labels, n, theirs)
		}
	}
}

func (p *pair) compareInFlight() {
	var ours, theirs []string
	for info := range p.ours.InFlight() {
		ours = append(ours, string(info.Pod.UID))
	}
	for _, pod := range p.upstream.InFlightPods() {
		theirs = append(theirs, string(pod.UID))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	if !slices.Equal(ours, theirs) || p.ours.SchedulingCycle() != p.upstream.SchedulingCycle() {
		p.differ("%v in flight, cycle %d; upstream %v, cycle %d", ours, p.ours.SchedulingCycle(), theirs, p.upstream.SchedulingCycle())
	}
}

// upstreamTiers returns the tier of every pod; of one that is in two, both.
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
	if !ok {
		return state{}
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
	s := state{
		tier, info.Attempts, info.UnschedulableCount, info.ConsecutiveErrorsCount,
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
