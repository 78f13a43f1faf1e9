package queue_test

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

	nodeAdd = fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}
	ungated = fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodSchedulingGatesEliminated}
)

func newPod(name, uid string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)}}
}

// inGroup returns a pod of a pod group.
func inGroup(name, uid, group string) *v1.Pod {
	pod := newPod(name, uid)
	pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
	return pod
}

func podGroup(name string) *schedulingv1beta1.PodGroup {
	return &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func manyPods(n int) []*v1.Pod {
	pods := make([]*v1.Pod, n)
	for i := range pods {
		priority := int32(i % 10)
		pods[i] = newPod(fmt.Sprint("pod-", i), fmt.Sprint("uid-", i))
		pods[i].Namespace, pods[i].Spec.Priority = "default", &priority
	}
	return pods
}

// groupsEnabled returns the defaults with GenericWorkload.
func groupsEnabled() queue.Options {
	opts := queue.Defaults()
	opts.GenericWorkload = true
	return opts
}

func mustRelease(t testing.TB, name string) queue.Options {
	t.Helper()
	opts, err := queue.ForRelease(name)
	if err != nil {
		t.Fatal(err)
	}
	return opts
}

// fail ends an attempt of pod, which the named plugins rejected.
func fail(t testing.TB, q *queue.Queue, now time.Time, pod *v1.Pod, plugins ...string) {
	t.Helper()
	if err := q.AddUnschedulableIfNotPresent(now, pod, queue.Rejection{UnschedulablePlugins: plugins}); err != nil {
		t.Fatal(err)
	}
}

func checkInvariants(t testing.TB, q *queue.Queue) {
	t.Helper()
	if err := q.Invariants(); err != nil {
		t.Error(err)
	}
}
