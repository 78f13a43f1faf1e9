package conformance

import (
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
)

// groups are the pod groups of a pair. Of six pods, three are of group g, two of h, and one is of none; of more, some are of i.
var groupNames = []string{"g", "h", "i"}

// groups are the pod groups of a pair. Of six pods, three belong to group g, two to h, and one to
// none; with more pods, some belong to i.
type groups struct {
	of         map[string]string // by the pod's name; nil without the gate
	objects    map[string]*schedulingv1beta1.PodGroup
	attempting *framework.QueuedPodGroupInfo // popped, with a running attempt
	reranked   bool                          // a group in a heap changed its priority
}

func newGroups(names []string) groups {
	g := groups{of: map[string]string{}, objects: map[string]*schedulingv1beta1.PodGroup{}}
	for i, name := range names {
		if group := []string{"g", "g", "g", "h", "h", "", "i", "i"}[i%8]; group != "" {
			g.of[name] = group
		}
	}
	return g
}

// join adds pod to its group, and returns the script's argument for it.
func (g *groups) join(pod *v1.Pod) string {
	name := g.of[pod.Name]
	if name == "" {
		return ""
	}
	pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
	return " group=" + name
}

// changeGroup adds, updates or deletes a PodGroup.
func (p *pair) changeGroup(now time.Time, _ string, _ *v1.Pod) {
	name := rapid.SampledFrom(groupNames).Draw(p.T, "group")
	object := p.groups.objects[name]
	if object != nil && !(p.spared && p.isTried(name)) && rapid.Bool().Draw(p.T, "goes") {
		p.say("ungroup %s", name)
		delete(p.groups.objects, name)
		p.upstream.DeletePodGroup(p.logger, object)
		p.ours.DeletePodGroup(now, object)
		return
	}
	if object == nil && p.inDoubt(name) {
		return
	}
	prio := rapid.SampledFrom([]int32{0, 0, 1, -1, 2_000_000_000}).Draw(p.T, "priority")
	changed := &schedulingv1beta1.PodGroup{}
	changed.Namespace, changed.Name, changed.Spec.Priority = "default", name, &prio
	p.groups.objects[name] = changed
	if object != nil {
		p.say("regroup %s priority=%d", name, prio)
		if g, _ := p.ours.Group(types.NamespacedName{Namespace: "default", Name: name}); g.Tier.Queued() && prio != *object.Spec.Priority {
			p.groups.reranked = true
		}
		p.upstream.UpdatePodGroup(p.logger, changed)
		p.ours.UpdatePodGroup(changed)
		return
	}
	p.say("group %s priority=%d", name, prio)
	p.upstream.AddPodGroup(p.logger, changed)
	p.ours.AddPodGroup(now, changed)
}

// isTried reports whether the group's attempt is running, during which its pods may be pending.
func (p *pair) isTried(group string) bool {
	return p.groups.attempting != nil && p.groups.attempting.Name == group
}

// inDoubt reports whether the result depends on the order in which a group's incomplete pods are
// queued, which is a map's in upstream.
func (p *pair) inDoubt(group string) bool {
	var first *queue.PodInfo
	for _, name := range p.names {
		info, ok := p.ours.Get("default", name)
		if !ok || info.Tier != queue.Incomplete || p.groups.of[name] != group {
			continue
		}
		gated := p.plugins.PreEnqueue(info.Pod, "") != ""
		switch {
		case first == nil:
			first = &info
			if gated {
				first = &queue.PodInfo{} // equal to none
			}
		case gated, !info.Timestamp.Equal(first.Timestamp), !info.InitialAttemptTimestamp.Equal(first.InitialAttemptTimestamp):
			return true
		}
	}
	return false
}

// addMembers adds several pods of a group at the same time.
func (p *pair) addMembers(now time.Time, _ string, _ *v1.Pod) {
	group := rapid.SampledFrom(groupNames).Draw(p.T, "group")
	for _, name := range p.names {
		if p.groups.of[name] == group && p.pods[name] == nil && rapid.IntRange(0, 3).Draw(p.T, "comes") > 0 {
			p.add(now, name)
		}
	}
}

// popGroup records that a group was popped.
func (p *pair) popGroup(ours queue.Entity, theirs *framework.QueuedPodGroupInfo) {
	var got, want []string
	if ours.Group != nil {
		for _, info := range ours.Group.Members {
			got = append(got, info.Pod.Name)
		}
	}
	theirs.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
		want = append(want, info.Pod.Name)
		p.inFlight[info.Pod.UID] = info
		return true
	})
	if ours.Group == nil || ours.Group.Name.Name != theirs.Name || !slices.Equal(got, want) {
		if ours.Group == nil || ours.Group.Name.Name != theirs.Name {
			if why := p.unmodelled(ours, theirs); why != "" {
				p.deviate(why)
				return
			}
		}
		p.differ("popped %v of %+v, upstream %v of %s", got, ours, want, theirs.Name)
	}
	members := map[types.UID]queue.PodInfo{}
	for _, info := range ours.Group.Members {
		members[info.Pod.UID] = info
	}
	theirs.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
		p.comparePopped(members[info.Pod.UID], info)
		return true
	})
	p.groups.attempting = theirs
}

// attempted ends the attempt of the group that was popped last. The bindings of its pods may still
// be running.
func (p *pair) attempted(now time.Time, _ string, _ *v1.Pod) {
	g := p.groups.attempting
	if g == nil {
		return
	}
	p.groups.attempting = nil
	end := rapid.SampledFrom([]struct {
		word    string
		outcome queue.GroupOutcome
		code    fwk.Code
	}{{"scheduled", queue.GroupScheduled, fwk.Success}, {"rejected", queue.GroupRejected, fwk.Unschedulable},
		{"rejected", queue.GroupRejected, fwk.UnschedulableAndUnresolvable}, {"rejected", queue.GroupRejected, fwk.Pending},
		{"failed", queue.GroupFailed, fwk.Error}, {"failed", queue.GroupFailed, fwk.Wait}, {"failed", queue.GroupFailed, fwk.Skip}}).Draw(p.T, "outcome")
	p.say("attempted %s %s", g.Name, end.word)
	if p.groups.objects[g.Name] == nil && p.ours.PendingPods(queue.Pending) > 0 {
		p.deviate(keptPending)
	}
	theirs := p.upstream.AddAttemptedPodGroupIfNeeded(p.logger, g, p.upstream.SchedulingCycle(), fwk.NewStatus(end.code))
	ours := p.ours.AddAttemptedPodGroupIfNeeded(now, types.NamespacedName{Namespace: "default", Name: g.Name}, end.outcome)
	if (theirs == nil) != (ours == nil) {
		p.differ("the end of %s's attempt: %v, upstream %v", g.Name, ours, theirs)
	}
}

// groupState is all that a queue stores about a queued pod group.
type groupState struct {
	tier                                queue.Tier
	attempts, unschedulable, errors     int
	timestamp, initial, expiry, flushed time.Time
	gatedBy, members                    string
}

func (p *pair) compareGroups() {
	for _, name := range slices.Sorted(maps.Keys(p.groups.objects)) {
		var ours, theirs groupState
		if g, _ := p.ours.Group(types.NamespacedName{Namespace: "default", Name: name}); g.Tier.Queued() {
			ours = groupState{g.Tier, g.Attempts, g.UnschedulableCount, g.ConsecutiveErrorsCount,
				g.Timestamp, g.InitialAttemptTimestamp, g.BackoffExpiry, g.FlushTimestamp, g.GatingPlugin, ""}
			for _, m := range g.Members {
				ours.members += m.Pod.Name
			}
		}
		if g, ok := p.upstream.GetPodGroup(name, "default", fwk.PodGroupKeyType); ok {
			theirs = groupState{ours.tier, g.Attempts, g.UnschedulableCount, g.ConsecutiveErrorsCount,
				g.Timestamp, time.Time{}, g.BackoffExpiration, g.FlushTimestamp, g.GatingPlugin, ""}
			if g.InitialAttemptTimestamp != nil {
				theirs.initial = *g.InitialAttemptTimestamp
			}
			g.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
				theirs.members += info.Pod.Name
				return true
			})
		}
		if theirs.expiry.IsZero() {
			ours.expiry = time.Time{}
		}
		if ours != theirs {
			p.differ("group %s: %+v\nupstream: %+v", name, ours, theirs)
		}
	}
}
