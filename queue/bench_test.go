package queue_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
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

// deaf is a plugin that rejects pods and hears nothing but assigned pods that go, as a map tells.
type deaf struct {
	queue.EveryEvent
	hears map[string]map[fwk.ClusterEvent]bool
}

func (d deaf) Registered(plugin string, e fwk.ClusterEvent) bool { return d.hears[plugin][e] }

func (d deaf) Hint(plugin string, _ *v1.Pod, e fwk.ClusterEvent, _, _ any) (fwk.QueueingHint, error) {
	if d.Registered(plugin, e) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// BenchmarkInFlight measures what is asked of a queue by a pod's name while many pods are in flight, and the end of the oldest attempt
// of many: meanwhile a pod comes and is popped, and something happens, so that as many stay in flight. Of the ends the median is told,
// without the time that it takes to read the clock. Who ends an attempt has the pod's UID at hand.
func BenchmarkInFlight(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		pods := manyPods(2*n + 1)
		q := queue.New(queue.Defaults(), nil, nil)
		fly := func(pod *v1.Pod) {
			q.Add(noon, pod)
			q.Pop(noon)
			q.MoveAllToActiveOrBackoffQueue(noon, fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, nil, nil, nil)
		}
		for _, pod := range pods[:n] {
			fly(pod)
		}
		b.Run(fmt.Sprint("Get/", n), func(b *testing.B) {
			for b.Loop() {
				q.Get("default", "nobody")
			}
		})
		b.Run(fmt.Sprint("Observe/", n), func(b *testing.B) {
			for b.Loop() {
				queue.Observe(q, noon, queue.Observation{Pod: pods[2*n], To: queue.Active, Event: "NodeAdd"})
				queue.Observe(q, noon, queue.Observation{Pod: pods[2*n], To: queue.Deleted})
			}
		})
		oldest := 0
		b.Run(fmt.Sprint("Done/", n), func(b *testing.B) {
			var took, reading []time.Duration
			atHand := byte(0)
			for b.Loop() {
				fly(pods[(oldest+n)%(2*n)])
				uid := pods[oldest].UID
				atHand += uid[0]
				began := time.Now()
				q.Done(noon, uid)
				took = append(took, time.Since(began))
				began = time.Now()
				reading = append(reading, time.Since(began))
				oldest = (oldest + 1) % (2 * n)
			}
			slices.Sort(took)
			slices.Sort(reading)
			b.ReportMetric(float64((took[len(took)/2] - reading[len(reading)/2]).Nanoseconds()), "ns/done")
			runtime.KeepAlive(atHand)
		})
	}
}

// BenchmarkUpcoming measures all of the pods that are to come.
func BenchmarkUpcoming(b *testing.B) {
	for _, n := range []int{5_000, 40_000} {
		q := queue.New(queue.Defaults(), nil, nil)
		for i, p := range manyPods(n) {
			q.Add(noon.Add(time.Duration(i*7919%n)), p)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				for range q.Upcoming() {
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/pod")
		})
	}
}

// BenchmarkDeaf measures an event that no plugin which rejected a pod registered for, with 50,000 unschedulable pods.
func BenchmarkDeaf(b *testing.B) {
	pods := manyPods(50_000)
	q := rejected(b, pods).Clone(deaf{hears: map[string]map[fwk.ClusterEvent]bool{
		"NodeResourcesFit": {{Resource: fwk.AssignedPod, ActionType: fwk.Delete}: true},
	}}, nil)
	for b.Loop() {
		q.MoveAllToActiveOrBackoffQueue(noon, fwk.ClusterEvent{Resource: fwk.PersistentVolume, ActionType: fwk.Add}, nil, nil, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pods)), "ns/pod")
}
