package queue_test

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func manyPods(n int) []*v1.Pod {
	pods := make([]*v1.Pod, n)
	for i := range pods {
		prio := int32(i % 10)
		pods[i] = &v1.Pod{}
		pods[i].Namespace, pods[i].Name, pods[i].UID = "default", fmt.Sprint("pod-", i), types.UID(fmt.Sprint("uid-", i))
		pods[i].Spec.Priority = &prio
	}
	return pods
}

// rejected returns a queue in which every one of pods is unschedulable.
func rejected(b *testing.B, pods []*v1.Pod) *queue.Queue {
	q := queue.New(queue.Defaults(), nil, nil)
	for i, p := range pods {
		q.Add(noon.Add(time.Duration(i)), p)
	}
	why := queue.Rejection{UnschedulablePlugins: []string{"NodeResourcesFit"}}
	for i := range pods {
		info, _ := q.Pop(noon)
		if err := q.AddUnschedulableIfNotPresent(noon.Add(time.Duration(i)), info.Pod, why); err != nil {
			b.Fatal(err)
		}
	}
	return q
}

// BenchmarkFork measures a copy of a queue in which every pod is unschedulable. What the queue does pod by
// pod is measured beside upstream's, in package conformance.
func BenchmarkFork(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		q := rejected(b, manyPods(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q.Clone(nil, nil)
			}
		})
	}
}
