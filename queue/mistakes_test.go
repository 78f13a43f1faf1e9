package queue_test

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/follow"
)

// TestMistakes makes any call with any object, in any order and with a clock that goes back: stubs, other UIDs and other groups of
// known names, pods that are bound, gone or in flight. Nothing panics, no pod is lost, and the invariants hold.
func TestMistakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := queue.Defaults()
		if rapid.IntRange(0, 3).Draw(t, "old") == 0 {
			opts, _ = queue.ForRelease(rapid.SampledFrom(queue.Releases()).Draw(t, "release"))
		}
		opts.PopFromBackoffQ = rapid.Bool().Draw(t, "PopFromBackoffQ")
		opts.GenericWorkload = rapid.Bool().Draw(t, "GenericWorkload")
		opts.PodMaxBackoff = rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "PodMaxBackoff")
		m := mistaken{T: t, q: queue.New(opts, nil, nil), now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			m.now = m.now.Add(rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, 6 * time.Minute, -2 * time.Second}).Draw(t, "later"))
			said := m.call()
			if err := m.q.Invariants(); err != nil {
				t.Fatalf("after %s: %v", said, err)
			}
		}
	})
}

// mistaken calls a queue.
type mistaken struct {
	*rapid.T
	q   *queue.Queue
	now time.Time
}

// pod returns any object.
func (m *mistaken) pod() *v1.Pod {
	pod := &v1.Pod{}
	pod.Namespace = "default"
	pod.Name = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(m.T, "name")
	pod.UID = types.UID(rapid.SampledFrom([]string{"", "1", "2", "3", "4"}).Draw(m.T, "uid"))
	if g := rapid.SampledFrom([]string{"", "g", "h"}).Draw(m.T, "group"); g != "" {
		pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &g}
	}
	if rapid.IntRange(0, 4).Draw(m.T, "gated") == 0 {
		pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "quota"}}
	}
	prio := rapid.Int32Range(0, 2).Draw(m.T, "priority")
	pod.Spec.Priority = &prio
	return pod
}

func (m *mistaken) object() *schedulingv1beta1.PodGroup {
	object := &schedulingv1beta1.PodGroup{}
	object.Namespace, object.Name = "default", rapid.SampledFrom([]string{"g", "h"}).Draw(m.T, "group")
	return object
}

func (m *mistaken) tier() queue.Tier {
	return rapid.SampledFrom([]queue.Tier{
		queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight, queue.Scheduled, queue.Deleted, queue.Incomplete, queue.Pending,
	}).Draw(m.T, "tier")
}

// call makes any call, and says which.
func (m *mistaken) call() string {
	q, now, pod := m.q, m.now, m.pod()
	by := rapid.SampledFrom([][]string{nil, {"A"}, {"B"}}).Draw(m.T, "by")
	event := fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}
	op := rapid.IntRange(0, 19).Draw(m.T, "call")
	switch op {
	case 0, 1:
		q.Add(now, pod)
		m.has("Add", pod)
	case 2, 3:
		q.PopEntity(now)
	case 4, 5:
		if err := q.AddUnschedulableIfNotPresent(now, pod, queue.Rejection{UnschedulablePlugins: by}); err == nil {
			m.has("AddUnschedulableIfNotPresent", pod)
		}
	case 6:
		q.Update(now, m.pod(), pod, []fwk.ClusterEvent{event, event})
	case 7:
		q.Delete(now, pod)
		if info, ok := q.Get(pod.Namespace, pod.Name); ok && info.Tier != queue.InFlight {
			m.Fatalf("%s is %s after it was deleted", pod.Name, info.Tier)
		}
	case 8:
		q.Activate(now, pod)
	case 9:
		q.Done(now, pod.UID)
	case 10:
		q.MoveAllToActiveOrBackoffQueue(now, event, nil, pod, nil)
	case 11:
		q.FlushBackoffCompleted(now)
		q.FlushUnschedulableLeftover(now)
	case 12:
		q.AddPodGroup(now, m.object())
	case 13:
		q.DeletePodGroup(now, m.object())
	case 14:
		_ = q.AddAttemptedPodGroupIfNeeded(now, types.NamespacedName{Namespace: "default", Name: m.object().Name}, queue.GroupOutcome(rapid.IntRange(0, 2).Draw(m.T, "outcome")))
	case 15:
		follow.Observe(q, now, follow.Observation{Pod: pod, To: m.tier(), UnschedulablePlugins: by,
			Event: rapid.SampledFrom([]string{"", queue.ScheduleAttemptFailure, "UnscheduledPodAdd", queue.UnschedulableTimeout}).Draw(m.T, "event")})
	case 16:
		follow.Restore(q, now, queue.PodInfo{Pod: pod, Tier: rapid.SampledFrom([]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable}).Draw(m.T, "tier"), UnschedulableCount: 1})
		m.has("Restore", pod)
	case 17:
		q.Unpop(pod.UID, m.tier())
	case 18:
		q.Refresh(pod)
	case 19:
		if rapid.IntRange(0, 3).Draw(m.T, "regroup") == 0 && q.Options().GenericWorkload {
			q.Regroup([]*schedulingv1beta1.PodGroup{m.object()})
		} else {
			m.q = q.Clone(nil, nil)
		}
	}
	return fmt.Sprintf("call %d with %s (%s)", op, pod.Name, pod.UID)
}

// has fails if pod does not wait.
func (m *mistaken) has(call string, pod *v1.Pod) {
	info, ok := m.q.Get(pod.Namespace, pod.Name)
	if !ok || info.Pod != pod || info.Tier == queue.InFlight {
		m.Fatalf("after %s, %s is %q", call, pod.Name, info.Tier)
	}
}

// TestAnAttemptThatIsNeverEnded: a group is popped again while all its pods are still in flight. Nothing is popped, the first attempt
// is forgotten, and no entry is let go twice.
func TestAnAttemptThatIsNeverEnded(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	opts := queue.Defaults()
	opts.GenericWorkload = true
	q := queue.New(opts, nil, nil)
	named := func(name, group string) *v1.Pod {
		pod := &v1.Pod{}
		pod.Name, pod.UID = name, types.UID(name)
		if group != "" {
			pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
		}
		return pod
	}
	object := &schedulingv1beta1.PodGroup{}
	object.Name = "g"
	q.AddPodGroup(now, object)
	q.Add(now, named("member", "g"))
	if info, ok := q.Pop(now); !ok || info.Pod.Name != "member" {
		t.Fatalf("popped %v", info.Pod)
	}
	q.Add(now, named("alone", ""))
	if info, ok := q.Pop(now); !ok || info.Pod.Name != "alone" {
		t.Fatalf("popped %v", info.Pod)
	}
	q.Add(now, named("member", "g"))
	if e, ok := q.PopEntity(now); ok {
		t.Errorf("popped %v", e)
	}
	if err := q.Invariants(); err != nil {
		t.Error(err)
	}
	if err := q.AddAttemptedPodGroupIfNeeded(now, types.NamespacedName{Name: "g"}, queue.GroupRejected); err == nil {
		t.Error("an attempt ended that was forgotten")
	}
	q.Add(now, named("x", ""))
	q.Add(now, named("y", ""))
	if err := q.Invariants(); err != nil {
		t.Error(err)
	}
}
