package queue_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
)

// counter is an observer that looks at every move, as all users of the queue do.
type counter struct{ moves int }

func (c *counter) Moved(queue.Transition) { c.moves++ }
func (c *counter) Failed(error)           {}

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
	q := queue.New(queue.Defaults(), nil, &counter{})
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

// BenchmarkQueue measures what the queue does most, a pod at a time, and a fork of the whole.
func BenchmarkQueue(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		pods := manyPods(n)
		perPod := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/pod")
		}
		b.Run(fmt.Sprintf("add/%d", n), func(b *testing.B) {
			for b.Loop() {
				q := queue.New(queue.Defaults(), nil, &counter{})
				for i, p := range pods {
					q.Add(noon.Add(time.Duration(i)), p)
				}
			}
			perPod(b)
		})
		b.Run(fmt.Sprintf("add-pop-fail/%d", n), func(b *testing.B) {
			for b.Loop() {
				rejected(b, pods)
			}
			perPod(b)
		})
		b.Run(fmt.Sprintf("move/%d", n), func(b *testing.B) {
			q := rejected(b, pods)
			for b.Loop() {
				q.Clone(&counter{}).MoveAllToActiveOrBackoffQueue(noon.Add(time.Hour), event("NodeAdd"), nil, nil, nil)
			}
			perPod(b)
		})
		b.Run(fmt.Sprintf("fork/%d", n), func(b *testing.B) {
			q := rejected(b, pods)
			for b.Loop() {
				q.Clone(nil)
			}
		})
		b.Run(fmt.Sprintf("memory/%d", n), func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				q := rejected(b, pods)
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(q)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/pod")
		})
	}
}
