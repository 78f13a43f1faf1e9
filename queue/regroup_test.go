package queue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestRegroup: pods that were followed one by one are put together with their groups. A group is where the first of its queued pods
// was, with what that one knew of failures; who is in flight stays there, and who has no PodGroup waits for it.
func TestRegroup(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	opts := queue.Defaults()
	opts.GenericWorkload = true
	q := queue.New(opts, nil, nil)
	for i, p := range []struct {
		name, group string
		tier        queue.Tier
		gated       string
	}{
		{"back", "g", queue.Backoff, ""},
		{"ready", "g", queue.Active, ""},
		{"flying", "g", queue.InFlight, ""},
		{"alone", "", queue.Active, ""},
		{"orphan", "none", queue.Unschedulable, ""},
		{"gated", "shut", queue.Gated, "Quota"},
		{"over", "ended", queue.Scheduled, ""},
	} {
		pod := &v1.Pod{}
		pod.Name, pod.UID = p.name, types.UID(p.name)
		if p.group != "" {
			pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &p.group}
		}
		queue.Restore(q, now, queue.PodInfo{
			Pod: pod, Tier: p.tier, Attempts: i + 2, UnschedulableCount: i + 1, ConsecutiveErrorsCount: i, Timestamp: now.Add(time.Duration(i) * time.Second),
			UnschedulablePlugins: []string{"A"}, GatingPlugin: p.gated, BackoffExpiry: now.Add(time.Minute),
		})
	}
	var objects []*schedulingv1beta1.PodGroup
	for _, name := range []string{"g", "shut", "ended"} {
		object := &schedulingv1beta1.PodGroup{}
		object.Name = name
		objects = append(objects, object)
	}
	q.Regroup(objects)
	if err := q.Invariants(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range []string{"back", "ready", "flying", "alone", "orphan", "gated"} {
		info, _ := q.Get("", name)
		got = append(got, fmt.Sprint(name, " ", info.Tier))
	}
	for _, name := range []string{"g", "shut", "none"} {
		info, ok := q.Group(types.NamespacedName{Name: name})
		got = append(got, fmt.Sprintf("group %s: %v %s, attempts %d, failures %d, errors %d, expiry %s, gated by %q, %d members",
			name, ok, info.Tier, info.Attempts, info.UnschedulableCount, info.ConsecutiveErrorsCount, clock(info.BackoffExpiry), info.GatingPlugin, len(info.Members)))
	}
	want := `back backoff
ready backoff
flying inflight
alone active
orphan incomplete
gated gated
group g: true backoff, attempts 2, failures 1, errors 0, expiry 12:01:00, gated by "", 2 members
group shut: true gated, attempts 7, failures 6, errors 5, expiry 12:01:00, gated by "Quota", 1 members
group none: true , attempts 0, failures 0, errors 0, expiry 00:00:00, gated by "", 0 members`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("regrouped they are\n%s", text)
	}
	q.AddPodGroup(now, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "none"}})
	if info, _ := q.Get("", "orphan"); info.Tier != queue.Active {
		t.Errorf("when its PodGroup came, the orphan is %s", info.Tier)
	}
	for _, name := range []string{"ready", "back"} {
		info, ok := q.Withdraw(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}, false)
		if !ok || !info.BackoffExpiry.IsZero() || info.Tier != queue.Backoff {
			t.Errorf("%s backs off with its group, and taken out of it till %s", name, clock(info.BackoffExpiry))
		}
	}
	if err := q.Invariants(); err != nil {
		t.Error(err)
	}
}

// TestGroupsFlush: what a group was flushed at is forgotten when its next attempt fails.
func TestGroupsFlush(t *testing.T) {
	opts := queue.Defaults()
	opts.GenericWorkload = true
	q := queue.New(opts, nil, nil)
	group, gated := "g", lone("a", "1")
	gated.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "quota"}}
	q.AddPodGroup(noon, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: group}})
	q.Add(noon, gated)
	flush := noon.Add(6 * time.Minute)
	q.FlushUnschedulableLeftover(flush)
	if info, _ := q.Group(types.NamespacedName{Name: group}); info.Tier != queue.Gated || !info.FlushTimestamp.Equal(flush) {
		t.Fatalf("it is %s, and was flushed at %s", info.Tier, info.FlushTimestamp)
	}
	open := gated.DeepCopy()
	open.Spec.SchedulingGates = nil
	q.Update(flush, gated, open, []fwk.ClusterEvent{{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}})
	if e, ok := q.PopEntity(flush); !ok || e.Group == nil {
		t.Fatal("the group is not popped")
	}
	if err := q.AddUnschedulableIfNotPresent(flush, open, queue.Rejection{UnschedulablePlugins: []string{"A"}}); err != nil {
		t.Fatal(err)
	}
	if err := q.AddAttemptedPodGroupIfNeeded(flush, types.NamespacedName{Name: group}, queue.GroupRejected); err != nil {
		t.Fatal(err)
	}
	if info, _ := q.Group(types.NamespacedName{Name: group}); info.Tier != queue.Backoff || !info.FlushTimestamp.IsZero() {
		t.Errorf("after its attempt it is %s, and was flushed at %s", info.Tier, info.FlushTimestamp)
	}
}
