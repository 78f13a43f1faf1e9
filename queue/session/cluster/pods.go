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

// Unscheduled returns the condition with which the scheduler says that pod could not be scheduled, or
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

// Says reports whether pod's status says already what a failed attempt would write into it, whose outcome is that message, and that node if
// the pod was nominated to one: then nothing is written (schedule_one.go, updatePod).
func Says(pod *v1.Pod, message, nominated string) bool {
	c := Unscheduled(pod)
	return c != nil && c.Message == message && (nominated == "" || nominated == pod.Status.NominatedNodeName)
}

// AttemptShows reports whether the change from old to pod shows the end of a failed attempt.
func AttemptShows(old, pod *v1.Pod) bool {
	c, before := Unscheduled(pod), Unscheduled(old)
	if c == nil {
		return false
	}
	return before == nil || before.Message != c.Message || before.Reason != c.Reason
}

// Waiting reports whether pod is one for a scheduler to place.
func Waiting(pod *v1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed
}

// BindsLate reports whether others may have to do something before pod is bound: provide its volumes, or its
// devices.
func BindsLate(pod *v1.Pod) bool {
	return len(pod.Spec.ResourceClaims) > 0 || hasVolume(pod, func(string) bool { return true })
}

// AwaitsVolume reports whether one of pod's claims has no volume yet: then a scheduler that has placed pod waits until
// somebody provides one.
func (o Objects) AwaitsVolume(pod *v1.Pod) bool {
	return hasVolume(pod, func(claim string) bool {
		found, _ := o.Tree.Get(object{kind: "PersistentVolumeClaim", namespace: pod.Namespace, name: claim})
		c, ok := found.Obj.(*v1.PersistentVolumeClaim)
		return ok && c.Spec.VolumeName == ""
	})
}

// HasVolume reports whether one of pod's volumes is what claim is bound to, or is to be.
func HasVolume(pod *v1.Pod, claim *v1.PersistentVolumeClaim) bool {
	return pod.Namespace == claim.Namespace && hasVolume(pod, func(name string) bool { return name == claim.Name })
}

// hasVolume reports whether one of pod's volumes has such a claim, by its name.
func hasVolume(pod *v1.Pod, is func(claim string) bool) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool {
		return v.PersistentVolumeClaim != nil && is(v.PersistentVolumeClaim.ClaimName) || v.Ephemeral != nil && is(pod.Name+"-"+v.Name)
	})
}

// Placeholder is the object of a pod of which only the name is known. Its UID is its name, so that the
// queue can tell pods in flight apart.
func Placeholder(key types.NamespacedName) *v1.Pod {
	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID = key.Namespace, key.Name, types.UID(key.String())
	return pod
}

// ByKey compares two names by namespace and then by name, as slices.SortFunc wants it.
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

// IsOfScheduler reports whether ev tells what the recorded scheduler did, and nothing of the cluster beside it.
func IsOfScheduler(ev sources.Event) bool {
	switch ev.Fact.(type) {
	case *sources.Move, *sources.FailedAttempt, *sources.Bound, *sources.Logged, *sources.Dumped, *sources.StatusPatched, *sources.Refused, *sources.Requested, *sources.Silent, *sources.Counts:
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

// TellsNodes reports whether events tell of any node: without, there may be some all the same.
func TellsNodes(events []sources.Event) bool { return slices.ContainsFunc(events, IsNode) }

// TellsFailures reports whether events tell of a pod that was there that it could not be scheduled, by its condition.
func TellsFailures(events []sources.Event) bool {
	return slices.ContainsFunc(events, func(ev sources.Event) bool {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok || c.Verb != sources.Updated {
			return false
		}
		pod, ok := c.Object.(*v1.Pod)
		return ok && Unscheduled(pod) != nil
	})
}

// TellsStatuses reports whether events tell of changes of pods' statuses, and of none by which a scheduler says that a pod could
// not be scheduled: then none said so.
func TellsStatuses(events []sources.Event) bool {
	tells := false
	for _, ev := range events {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		if pod, ok := c.Object.(*v1.Pod); ok {
			if Unscheduled(pod) != nil {
				return false
			}
			tells = tells || c.Verb == sources.Updated && pod.Status.Phase == v1.PodRunning
		}
	}
	return tells
}

// RequestsOnAttaching returns how many requests of the scheduler events tell from when they come to it at work up to that long
// after, and when they come to it. It is 0 if they do not come to one. What is told of before that came late, as Events do.
func RequestsOnAttaching(events []sources.Event, within time.Duration) (sent int, began time.Time) {
	i := slices.IndexFunc(events, func(ev sources.Event) bool { _, is := ev.Fact.(*sources.Attached); return is })
	if i < 0 {
		return 0, began
	}
	began = events[i].Time
	for _, ev := range events[i:] {
		if ev.Time.Sub(began) > within {
			break
		}
		if _, is := ev.Fact.(*sources.Requested); is {
			sent++
		}
	}
	return sent, began
}

// GracePeriod is how long pod takes to end once it is deleted: its own grace period, but most at the most.
func GracePeriod(pod *v1.Pod, most time.Duration) time.Duration {
	if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
		return min(most, time.Duration(*s)*time.Second)
	}
	return most
}
