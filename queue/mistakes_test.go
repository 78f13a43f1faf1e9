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
		m := &mistaken{T: t, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
		m.q = queue.New(opts, nil, m)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			m.now = m.now.Add(rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, 6 * time.Minute, -2 * time.Second}).Draw(t, "later"))
			m.moves = nil
			said := m.call()
			if err := m.q.Invariants(); err != nil {
				t.Fatalf("after %s: %v", said, err)
			}
			for pod, last := range m.moves {
				info, ok := m.q.Get(pod.Namespace, pod.Name)
				known := queue.Transition{
					Pod: info.Pod, From: last.From, To: info.Tier, Event: last.Event, Time: last.Time, Observed: last.Observed,
					Attempts: info.Attempts, BackoffExpiry: info.BackoffExpiry,
					UnschedulablePlugins: info.UnschedulablePlugins, PendingPlugins: info.PendingPlugins, GatingPlugin: info.GatingPlugin,
				}
				if ok && info.Pod == pod && info.Tier == last.To && !reflect.DeepEqual(known, last) {
					t.Fatalf("after %s, the observer was told\n%+v\nand known is\n%+v", said, last, known)
				}
			}
		}
	})
}

// mistaken calls a queue, and is told of its moves.
type mistaken struct {
	*rapid.T
	q     *queue.Queue
	now   time.Time
	moves map[*v1.Pod]queue.Transition // the last one of each, in the present call
}

// Moved implements queue.Observer.
func (m *mistaken) Moved(t queue.Transition) {
	if m.moves == nil {
		m.moves = map[*v1.Pod]queue.Transition{}
	}
	m.moves[t.Pod] = t
}

// Failed implements queue.Observer.
func (m *mistaken) Failed(error) {}

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
	pending := rapid.SampledFrom([][]string{nil, {"P"}}).Draw(m.T, "pending")
	event := fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}
	op := rapid.IntRange(0, 20).Draw(m.T, "call")
	switch op {
	case 0, 1:
		q.Add(now, pod)
		m.has("Add", pod)
	case 2, 3:
		q.PopEntity(now)
	case 4, 5:
		if err := q.AddUnschedulableIfNotPresent(now, pod, queue.Rejection{UnschedulablePlugins: by, PendingPlugins: pending}); err == nil {
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
		queue.Observe(q, now, queue.Observation{Pod: pod, To: m.tier(), UnschedulablePlugins: by,
			Event: rapid.SampledFrom([]string{"", queue.ScheduleAttemptFailure, "UnscheduledPodAdd", queue.UnschedulableTimeout}).Draw(m.T, "event")})
	case 16:
		queue.Restore(q, now, queue.PodInfo{Pod: pod, Tier: rapid.SampledFrom([]queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable}).Draw(m.T, "tier"), UnschedulableCount: 1})
		m.has("Restore", pod)
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
	told := &mistaken{}
	q := queue.New(opts, nil, told)
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
	again := named("member", "g")
	q.Add(now, again)
	if e, ok := q.PopEntity(now); ok {
		t.Errorf("popped %v", e)
	}
	if told.moves[again].To != queue.Deleted {
		t.Errorf("told was that it is %s", told.moves[again].To)
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

// TestAnotherNamesAttempt: an attempt fails with an object of another name. The attempt is over, and the pod of that name is queued.
func TestAnotherNamesAttempt(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	q := queue.New(queue.Defaults(), nil, nil)
	a, b := &v1.Pod{}, &v1.Pod{}
	a.Name, a.UID, b.Name, b.UID = "a", "1", "b", "1"
	q.Add(now, a)
	q.Pop(now)
	if err := q.AddUnschedulableIfNotPresent(now, b, queue.Rejection{UnschedulablePlugins: []string{"A"}}); err != nil {
		t.Fatal(err)
	}
	if info, ok := q.Get("", "a"); ok {
		t.Errorf("a is %s", info.Tier)
	}
	if info, _ := q.Get("", "b"); !info.Tier.Queued() || q.PendingPods(queue.InFlight) != 0 {
		t.Errorf("b is %s, and %d are in flight", info.Tier, q.PendingPods(queue.InFlight))
	}
	if err := q.Invariants(); err != nil {
		t.Error(err)
	}
}

// TestOutOfAGroup: a pod that was popped with its group is one alone when its attempt fails, if its object says so by then.
func TestOutOfAGroup(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	opts := queue.Defaults()
	opts.GenericWorkload = true
	q := queue.New(opts, nil, nil)
	group, object, pod := "g", &schedulingv1beta1.PodGroup{}, &v1.Pod{}
	object.Name, pod.Name, pod.UID = group, "a", "1"
	pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
	q.AddPodGroup(now, object)
	q.Add(now, pod)
	q.PopEntity(now)
	alone := pod.DeepCopy()
	alone.Spec.SchedulingGroup = nil
	q.Refresh(alone)
	if err := q.AddUnschedulableIfNotPresent(now, alone, queue.Rejection{UnschedulablePlugins: []string{"A"}}); err != nil {
		t.Fatal(err)
	}
	if info, _ := q.Get("", "a"); info.Tier != queue.Unschedulable {
		t.Errorf("it is %s", info.Tier)
	}
	if err := q.Invariants(); err != nil {
		t.Error(err)
	}
}
