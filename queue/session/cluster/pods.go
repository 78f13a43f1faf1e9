package cluster

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// Grouped reports whether pod is queued with its pod group.
func Grouped(opts queue.Options, pod *v1.Pod) bool {
	_, ok := opts.GroupOf(pod)
	return ok
}

// Unscheduled returns the condition in which the scheduler reported that pod could not be scheduled, or
// nil.
func Unscheduled(pod *v1.Pod) *v1.PodCondition {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse && c.Reason != v1.PodReasonSchedulingGated {
			return c
		}
	}
	return nil
}

// StatusUnchanged reports whether a failed attempt with that message and nominated node would leave pod's
// status as it is. Then the scheduler writes nothing (schedule_one.go, updatePod).
func StatusUnchanged(pod *v1.Pod, message, nominated string) bool {
	c := Unscheduled(pod)
	return c != nil && c.Message == message && (nominated == "" || nominated == pod.Status.NominatedNodeName)
}

// ShowsFailedAttempt reports whether the change from old to pod shows the end of a failed attempt.
func ShowsFailedAttempt(old, pod *v1.Pod) bool {
	c, before := Unscheduled(pod), Unscheduled(old)
	if c == nil {
		return false
	}
	return before == nil || before.Message != c.Message || before.Reason != c.Reason
}

// Waiting reports whether pod still needs a node.
func Waiting(pod *v1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed
}

// BindsLate reports whether binding pod may depend on others, which provide its volumes or devices.
func BindsLate(pod *v1.Pod) bool {
	return len(pod.Spec.ResourceClaims) > 0 || hasVolume(pod, func(string) bool { return true })
}

// AwaitsVolume reports whether one of pod's claims has no volume yet. A scheduler that has chosen a node
// then waits until the volume is provided.
func (o Objects) AwaitsVolume(pod *v1.Pod) bool {
	return hasVolume(pod, func(claim string) bool {
		found, _ := o.Tree.Get(object{kind: "PersistentVolumeClaim", namespace: pod.Namespace, name: claim})
		c, ok := found.Obj.(*v1.PersistentVolumeClaim)
		return ok && c.Spec.VolumeName == ""
	})
}

// HasVolume reports whether pod uses claim.
func HasVolume(pod *v1.Pod, claim *v1.PersistentVolumeClaim) bool {
	return pod.Namespace == claim.Namespace && hasVolume(pod, func(name string) bool { return name == claim.Name })
}

// hasVolume reports whether the name of one of pod's claims satisfies is.
func hasVolume(pod *v1.Pod, is func(claim string) bool) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool {
		return v.PersistentVolumeClaim != nil && is(v.PersistentVolumeClaim.ClaimName) || v.Ephemeral != nil && is(pod.Name+"-"+v.Name)
	})
}

// Placeholder returns the object of a pod of which only the name is known. Its UID is its name, so that
// the queue can distinguish pods in flight.
func Placeholder(key types.NamespacedName) *v1.Pod {
	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID = key.Namespace, key.Name, types.UID(key.String())
	return pod
}

// ByKey compares two names by namespace and then by name, for slices.SortFunc.
func ByKey(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// IsPod reports whether ev is about a pod's object.
func IsPod(ev sources.Event) bool { return isAbout[*v1.Pod](ev) }

// IsNode reports whether ev is about a node's object.
func IsNode(ev sources.Event) bool { return isAbout[*v1.Node](ev) }

// isAbout reports whether ev is a change of an object of type T.
func isAbout[T runtime.Object](ev sources.Event) bool {
	c, ok := ev.Fact.(*sources.ObjectChange)
	if !ok {
		return false
	}
	_, ok = c.Object.(T)
	return ok
}

// IsSchedulerAction reports whether ev describes only what the recorded scheduler did.
func IsSchedulerAction(ev sources.Event) bool {
	switch ev.Fact.(type) {
	case *sources.Move, *sources.FailedAttempt, *sources.Bound, *sources.Logged, *sources.Dumped, *sources.Discarded, *sources.StatusPatched, *sources.Refused, *sources.Requested, *sources.Silent, *sources.Counts:
		return true
	}
	return false
}

// HasFact reports whether any of events holds a fact of type F.
func HasFact[F sources.Fact](events []sources.Event) bool {
	return slices.ContainsFunc(events, func(ev sources.Event) bool {
		_, ok := ev.Fact.(F)
		return ok
	})
}

// HasNodes reports whether events include any node. Without one, the cluster may still have nodes.
func HasNodes(events []sources.Event) bool { return slices.ContainsFunc(events, IsNode) }

// HasFailures reports whether an update among events sets a condition that a pod could not be scheduled.
func HasFailures(events []sources.Event) bool {
	return slices.ContainsFunc(events, func(ev sources.Event) bool {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok || c.Verb != sources.Updated {
			return false
		}
		pod, ok := c.Object.(*v1.Pod)
		return ok && Unscheduled(pod) != nil
	})
}

// ReportsNoFailures reports whether events include updates of pods' statuses, but none with a condition
// that a pod could not be scheduled. Then no pod had one.
func ReportsNoFailures(events []sources.Event) bool {
	updated := false
	for _, ev := range events {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		if pod, ok := c.Object.(*v1.Pod); ok {
			if Unscheduled(pod) != nil {
				return false
			}
			updated = updated || c.Verb == sources.Updated && pod.Status.Phase == v1.PodRunning
		}
	}
	return updated
}

// GracePeriod returns how long pod takes to terminate: its own grace period, but at most most.
func GracePeriod(pod *v1.Pod, most time.Duration) time.Duration {
	if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
		return min(most, time.Duration(*s)*time.Second)
	}
	return most
}

// Bound returns a copy of pod on a node.
func Bound(pod *v1.Pod, node string) *v1.Pod {
	pod = pod.DeepCopy()
	pod.Spec.NodeName = node
	return pod
}

// Unbound returns a copy of pod as it was before it was bound.
func Unbound(pod *v1.Pod) *v1.Pod { return Bound(pod, "") }
