package queue_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// rejected returns a queue in which all pods are unschedulable.
func rejected(b *testing.B, pods []*v1.Pod) *queue.Queue {
	q := queue.New(queue.Defaults(), nil, nil)
	for i, p := range pods {
		q.Add(noon.Add(time.Duration(i)), p)
	}
	for i := range pods {
		info, _ := q.Pop(noon)
		fail(b, q, noon.Add(time.Duration(i)), info.Pod, "NodeResourcesFit")
	}
	return q
}

// BenchmarkFork measures Clone with unschedulable pods. Package conformance measures the operations on single
// pods, and compares them with upstream's.
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

// registrations are plugins that registered for these events.
type registrations struct {
	queue.EveryEvent
	events map[string]map[fwk.ClusterEvent]bool
}

func (r registrations) Registered(plugin string, e fwk.ClusterEvent) bool { return r.events[plugin][e] }

func (r registrations) Hint(plugin string, _ *v1.Pod, e fwk.ClusterEvent, _, _ any) (fwk.QueueingHint, error) {
	if r.Registered(plugin, e) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// BenchmarkInFlight measures Get and Observe by name while many pods are in flight, and Done for the oldest one.
// Between two calls of Done, another pod is popped and an event occurs. The time of Done is the median, without
// the time to read the clock and to load the UID.
func BenchmarkInFlight(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		pods := manyPods(2*n + 1)
		q := queue.New(queue.Defaults(), nil, nil)
		pop := func(pod *v1.Pod) {
			q.Add(noon, pod)
			q.Pop(noon)
			q.MoveAllToActiveOrBackoffQueue(noon, nodeAdd, nil, nil, nil)
		}
		for _, pod := range pods[:n] {
			pop(pod)
		}
		b.Run(fmt.Sprint("Get/", n), func(b *testing.B) {
			for b.Loop() {
				q.Get("default", "nobody")
			}
		})
		b.Run(fmt.Sprint("Observe/", n), func(b *testing.B) {
			for b.Loop() {
				q.Observe(noon, queue.Observation{Pod: pods[2*n], To: queue.Active, Event: "NodeAdd"})
				q.Observe(noon, queue.Observation{Pod: pods[2*n], To: queue.Deleted})
			}
		})
		oldest := 0
		b.Run(fmt.Sprint("Done/", n), func(b *testing.B) {
			var took, clock []time.Duration
			loaded := byte(0)
			for b.Loop() {
				pop(pods[(oldest+n)%(2*n)])
				uid := pods[oldest].UID
				loaded += uid[0]
				began := time.Now()
				q.Done(noon, uid)
				took = append(took, time.Since(began))
				began = time.Now()
				clock = append(clock, time.Since(began))
				oldest = (oldest + 1) % (2 * n)
			}
			slices.Sort(took)
			slices.Sort(clock)
			b.ReportMetric(float64((took[len(took)/2] - clock[len(clock)/2]).Nanoseconds()), "ns/done")
			runtime.KeepAlive(loaded)
		})
	}
}

// BenchmarkUpcoming measures Upcoming over all pods.
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

// BenchmarkUnregistered measures an event that no rejecting plugin registered for, with 50,000 unschedulable pods.
func BenchmarkUnregistered(b *testing.B) {
	pods := manyPods(50_000)
	q := rejected(b, pods).Clone(registrations{events: map[string]map[fwk.ClusterEvent]bool{
		"NodeResourcesFit": {{Resource: fwk.AssignedPod, ActionType: fwk.Delete}: true},
	}}, nil)
	for b.Loop() {
		q.MoveAllToActiveOrBackoffQueue(noon, fwk.ClusterEvent{Resource: fwk.PersistentVolume, ActionType: fwk.Add}, nil, nil, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pods)), "ns/pod")
}
