package queue_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestMisuse makes random calls with random objects and a clock that goes backwards. The objects include stubs, known
// names with other UIDs or groups, and pods that are bound, deleted or in flight. No call may panic, lose a pod or
// violate an invariant, and the last transition of each pod must equal its state.
func TestMisuse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := queue.Defaults()
		if rapid.IntRange(0, 3).Draw(t, "old") == 0 {
			opts, _ = queue.ForRelease(rapid.SampledFrom(queue.Releases()).Draw(t, "release"))
		}
		opts.PopFromBackoffQ = rapid.Bool().Draw(t, "PopFromBackoffQ")
		opts.GenericWorkload = rapid.Bool().Draw(t, "GenericWorkload")
		opts.PodMaxBackoff = rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "PodMaxBackoff")
		m := &misuse{T: t, now: noon}
		m.q = queue.New(opts, nil, m)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			m.now = m.now.Add(rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, 6 * time.Minute, -2 * time.Second}).Draw(t, "later"))
			m.moves = nil
			call := m.call()
			if err := m.q.Invariants(); err != nil {
				t.Fatalf("after %s: %v", call, err)
			}
			for pod, last := range m.moves {
				info, ok := m.q.Get(pod.Namespace, pod.Name)
				want := queue.Transition{
					Pod: info.Pod, From: last.From, To: info.Tier, Event: last.Event, Time: last.Time, Observed: last.Observed,
					Attempts: info.Attempts, BackoffExpiry: info.BackoffExpiry,
					UnschedulablePlugins: info.UnschedulablePlugins, PendingPlugins: info.PendingPlugins, GatingPlugin: info.GatingPlugin,
				}
				if ok && info.Pod == pod && info.Tier == last.To && !reflect.DeepEqual(want, last) {
					t.Fatalf("after %s, the observer received\n%+v\nwant\n%+v", call, last, want)
				}
			}
		}
	})
}

// misuse makes random calls on a queue, and observes it.
type misuse struct {
	*rapid.T
	q     *queue.Queue
	now   time.Time
	moves map[*v1.Pod]queue.Transition // the last one of each pod during the current call
}

// Moved implements queue.Observer.
func (m *misuse) Moved(t queue.Transition) {
	if m.moves == nil {
		m.moves = map[*v1.Pod]queue.Transition{}
	}
	m.moves[t.Pod] = t
}

// Failed implements queue.Observer.
func (m *misuse) Failed(error) {}

// pod returns a random pod.
func (m *misuse) pod() *v1.Pod {
	pod := newPod(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(m.T, "name"),
		rapid.SampledFrom([]string{"", "1", "2", "3", "4"}).Draw(m.T, "uid"))
	pod.Namespace = "default"
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

func (m *misuse) object() *schedulingv1beta1.PodGroup {
	object := podGroup(rapid.SampledFrom([]string{"g", "h"}).Draw(m.T, "group"))
	object.Namespace = "default"
	return object
}

func (m *misuse) tier() queue.Tier {
	return rapid.SampledFrom([]queue.Tier{
		queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight, queue.Scheduled, queue.Deleted, queue.Incomplete, queue.Pending,
	}).Draw(m.T, "tier")
}

// call makes a random call and describes it.
func (m *misuse) call() string {
	q, now, pod := m.q, m.now, m.pod()
	by := rapid.SampledFrom([][]string{nil, {"A"}, {"B"}}).Draw(m.T, "by")
	pending := rapid.SampledFrom([][]string{nil, {"P"}}).Draw(m.T, "pending")
	op := rapid.IntRange(0, 20).Draw(m.T, "call")
	switch op {
	case 0, 1:
		q.Add(now, pod)
		m.waits("Add", pod)
	case 2, 3:
		q.PopEntity(now)
	case 4, 5:
		if err := q.AddUnschedulableIfNotPresent(now, pod, queue.Rejection{UnschedulablePlugins: by, PendingPlugins: pending}); err == nil {
			m.waits("AddUnschedulableIfNotPresent", pod)
		}
	case 6:
		q.Update(now, m.pod(), pod, []fwk.ClusterEvent{ungated, ungated})
	case 7:
		q.Delete(now, pod)
		if info, ok := q.Get(pod.Namespace, pod.Name); ok && info.Tier != queue.InFlight {
			m.Fatalf("%s is %s after Delete", pod.Name, info.Tier)
		}
	case 8:
		q.Activate(now, pod)
	case 9:
		q.Done(now, pod.UID)
	case 10:
		q.MoveAllToActiveOrBackoffQueue(now, ungated, nil, pod, nil)
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
		q.Observe(now, queue.Observation{Pod: pod, To: m.tier(), UnschedulablePlugins: by,
			Event: rapid.SampledFrom([]string{"", queue.ScheduleAttemptFailure, "UnscheduledPodAdd", queue.UnschedulableTimeout}).Draw(m.T, "event")})
	case 16:
		q.Restore(now, queue.PodInfo{Pod: pod, Tier: rapid.SampledFrom([]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable}).Draw(m.T, "tier"), UnschedulableCount: 1})
		m.waits("Restore", pod)
	case 17:
		q.Unpop(pod.UID, m.tier())
	case 18:
		q.Refresh(pod)
	case 19:
		if rapid.IntRange(0, 3).Draw(m.T, "regroup") == 0 && q.Options().GenericWorkload {
			q.Regroup([]*schedulingv1beta1.PodGroup{m.object()})
		} else {
			m.q = q.Clone(nil, m)
		}
	case 20:
		q.Realign(rapid.SampledFrom([]time.Duration{0, 380 * time.Millisecond, -90 * time.Minute}).Draw(m.T, "ahead"))
	}
	return fmt.Sprintf("call %d with %s (%s)", op, pod.Name, pod.UID)
}

// waits fails unless pod waits.
func (m *misuse) waits(call string, pod *v1.Pod) {
	info, ok := m.q.Get(pod.Namespace, pod.Name)
	if !ok || info.Pod != pod || info.Tier == queue.InFlight {
		m.Fatalf("after %s, %s is %q", call, pod.Name, info.Tier)
	}
}

// TestUnendedGroupAttempt pops a group again while all its pods are still in flight. Nothing is popped, the first
// attempt is forgotten, and no entry is released twice.
func TestUnendedGroupAttempt(t *testing.T) {
	observed := &misuse{}
	q := queue.New(groupsEnabled(), nil, observed)
	q.AddPodGroup(noon, podGroup("g"))
	for _, pod := range []*v1.Pod{inGroup("member", "1", "g"), newPod("single", "2")} {
		q.Add(noon, pod)
		if info, ok := q.Pop(noon); !ok || info.Pod != pod {
			t.Fatalf("popped %v, want %s", info.Pod, pod.Name)
		}
	}
	again := inGroup("member", "1", "g")
	q.Add(noon, again)
	if e, ok := q.PopEntity(noon); ok {
		t.Errorf("popped %v, want nothing", e)
	}
	if to := observed.moves[again].To; to != queue.Deleted {
		t.Errorf("the observer saw a move to %s, want deleted", to)
	}
	checkInvariants(t, q)
	if err := q.AddAttemptedPodGroupIfNeeded(noon, types.NamespacedName{Name: "g"}, queue.GroupRejected); err == nil {
		t.Error("AddAttemptedPodGroupIfNeeded ended a forgotten attempt")
	}
	q.Add(noon, newPod("x", "3"))
	q.Add(noon, newPod("y", "4"))
	checkInvariants(t, q)
}

// TestFailureWithAnotherName fails an attempt with an object of another name. The attempt ends, and the pod with that
// name is queued.
func TestFailureWithAnotherName(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	q.Add(noon, newPod("a", "1"))
	q.Pop(noon)
	fail(t, q, noon, newPod("b", "1"), "A")
	if info, ok := q.Get("", "a"); ok {
		t.Errorf("a is %s, want unknown", info.Tier)
	}
	if info, _ := q.Get("", "b"); !info.Tier.Queued() || q.PendingPods(queue.InFlight) != 0 {
		t.Errorf("b is %s, and %d pods are in flight", info.Tier, q.PendingPods(queue.InFlight))
	}
	checkInvariants(t, q)
}

// TestFailureOutsideItsGroup fails the attempt of a pod that left its group while in flight. It is queued alone.
func TestFailureOutsideItsGroup(t *testing.T) {
	q := queue.New(groupsEnabled(), nil, nil)
	q.AddPodGroup(noon, podGroup("g"))
	q.Add(noon, inGroup("a", "1", "g"))
	q.PopEntity(noon)
	alone := newPod("a", "1")
	q.Refresh(alone)
	fail(t, q, noon, alone, "A")
	if info, _ := q.Get("", "a"); info.Tier != queue.Unschedulable {
		t.Errorf("the pod is %s, want unschedulable", info.Tier)
	}
	checkInvariants(t, q)
}
