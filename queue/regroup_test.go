package queue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestRegroup checks that observed pods join their pod groups. A group gets the tier and the failures of the first of its
// queued pods. Pods in flight stay there, and pods without a PodGroup become incomplete.
func TestRegroup(t *testing.T) {
	q := queue.New(groupsEnabled(), nil, nil)
	for i, p := range []struct {
		name, group string
		tier        queue.Tier
		gated       string
	}{
		{"backoff", "g", queue.Backoff, ""},
		{"active", "g", queue.Active, ""},
		{"popped", "g", queue.InFlight, ""},
		{"single", "", queue.Active, ""},
		{"orphan", "none", queue.Unschedulable, ""},
		{"gated", "closed", queue.Gated, "Quota"},
		{"bound", "ended", queue.Scheduled, ""},
	} {
		pod := newPod(p.name, p.name)
		if p.group != "" {
			pod = inGroup(p.name, p.name, p.group)
		}
		q.Restore(noon, queue.PodInfo{
			Pod: pod, Tier: p.tier, Attempts: i + 2, UnschedulableCount: i + 1, ConsecutiveErrorsCount: i, Timestamp: noon.Add(time.Duration(i) * time.Second),
			UnschedulablePlugins: []string{"A"}, GatingPlugin: p.gated, BackoffExpiry: noon.Add(time.Minute),
		})
	}
	q.Regroup([]*schedulingv1beta1.PodGroup{podGroup("g"), podGroup("closed"), podGroup("ended")})
	checkInvariants(t, q)
	var got []string
	for _, name := range []string{"backoff", "active", "popped", "single", "orphan", "gated"} {
		info, _ := q.Get("", name)
		got = append(got, fmt.Sprint(name, " ", info.Tier))
	}
	for _, name := range []string{"g", "closed", "none"} {
		info, ok := q.Group(types.NamespacedName{Name: name})
		got = append(got, fmt.Sprintf("group %s: %v %s, attempts %d, failures %d, errors %d, expiry %s, gated by %q, %d members",
			name, ok, info.Tier, info.Attempts, info.UnschedulableCount, info.ConsecutiveErrorsCount, clock(info.BackoffExpiry), info.GatingPlugin, len(info.Members)))
	}
	want := `backoff backoff
active backoff
popped inflight
single active
orphan incomplete
gated gated
group g: true backoff, attempts 2, failures 1, errors 0, expiry 12:01:00, gated by "", 2 members
group closed: true gated, attempts 7, failures 6, errors 5, expiry 12:01:00, gated by "Quota", 1 members
group none: true , attempts 0, failures 0, errors 0, expiry 00:00:00, gated by "", 0 members`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("after Regroup:\n%s\nwant\n%s", text, want)
	}
	q.AddPodGroup(noon, podGroup("none"))
	if info, _ := q.Get("", "orphan"); info.Tier != queue.Active {
		t.Errorf("orphan is %s after its PodGroup was added, want active", info.Tier)
	}
	for _, name := range []string{"active", "backoff"} {
		info, ok := q.Extract(newPod(name, ""), false)
		if !ok || !info.BackoffExpiry.IsZero() || info.Tier != queue.Backoff {
			t.Errorf("%s was extracted from its group with tier %s and backoff expiry %s, want backoff and none", name, info.Tier, clock(info.BackoffExpiry))
		}
	}
	checkInvariants(t, q)
}

// TestGroupFlush checks that a group's failed attempt clears the time of its last flush.
func TestGroupFlush(t *testing.T) {
	q := queue.New(groupsEnabled(), nil, nil)
	group := types.NamespacedName{Name: "g"}
	gated := inGroup("a", "1", "g")
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "quota"}}
	q.AddPodGroup(noon, podGroup("g"))
	q.Add(noon, gated)
	flush := noon.Add(6 * time.Minute)
	q.FlushUnschedulableLeftover(flush)
	if info, _ := q.Group(group); info.Tier != queue.Gated || !info.FlushTimestamp.Equal(flush) {
		t.Fatalf("the group is %s and was flushed at %s, want gated and %s", info.Tier, info.FlushTimestamp, flush)
	}
	open := inGroup("a", "1", "g")
	q.Update(flush, gated, open, []fwk.ClusterEvent{ungated})
	if e, ok := q.PopEntity(flush); !ok || e.Group == nil {
		t.Fatal("the group was not popped")
	}
	fail(t, q, flush, open, "A")
	if err := q.AddAttemptedPodGroupIfNeeded(flush, group, queue.GroupRejected); err != nil {
		t.Fatal(err)
	}
	if info, _ := q.Group(group); info.Tier != queue.Backoff || !info.FlushTimestamp.IsZero() {
		t.Errorf("the group is %s and was flushed at %s, want backoff and never", info.Tier, info.FlushTimestamp)
	}
}
