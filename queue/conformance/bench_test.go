package conformance

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/schedq/schedq/queue"
)

var largest = flag.Int("largest", 1_000_000, "how many pods BenchmarkAgainstUpstream goes up to")

// rounds is how often each side is measured, in turn. The best times are compared: what else the machine
// does can only make one longer.
const rounds = 5

// contestant is a queue that is measured. Each of its steps works on all pods, the one after the other.
type contestant struct {
	name string
	// steps are called in their order, on a new queue each round.
	start func(pods []*v1.Pod) []func()
}

var stepNames = []string{"add", "pop-and-fail", "move", "pop-from-backoff"}

var benchEvent = fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}

// BenchmarkAgainstUpstream measures our queue and kube-scheduler's on the same pods and operations, and
// prints a line for each: nanoseconds a pod, and how many times upstream's those are; then the bytes that a
// waiting pod takes beyond itself. Our observer looks at every move; upstream's logger is silent.
func BenchmarkAgainstUpstream(b *testing.B) {
	klog.SetLogger(klog.Logger{})
	metrics.Register()
	both := []contestant{{"ours", startOurs}, {"upstream", startUpstream}}
	for n := 1000; n <= *largest; n *= 10 {
		pods := benchPods(n)
		times := map[string][][]time.Duration{}
		memory := map[string][]int64{}
		for range rounds {
			for _, c := range both {
				if times[c.name] == nil {
					times[c.name] = make([][]time.Duration, len(stepNames))
				}
				before := heap()
				steps := c.start(pods)
				for i, step := range steps {
					runtime.GC()
					began := time.Now()
					step()
					times[c.name][i] = append(times[c.name][i], time.Since(began))
					if stepNames[i] == "pop-and-fail" {
						memory[c.name] = append(memory[c.name], heap()-before)
					}
				}
				runtime.KeepAlive(steps)
			}
		}
		for i, step := range stepNames {
			ours, theirs := slices.Min(times["ours"][i]), slices.Min(times["upstream"][i])
			fmt.Printf("bench: %s n=%d ours=%d upstream=%d ratio=%.1f\n", step, n, int(ours)/n, int(theirs)/n, float64(theirs)/float64(ours))
		}
		ours, theirs := slices.Min(memory["ours"]), slices.Min(memory["upstream"])
		fmt.Printf("bench: bytes-per-pod n=%d ours=%d upstream=%d ratio=%.1f\n", n, int(ours)/n, int(theirs)/n, float64(theirs)/float64(ours))
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func benchPods(n int) []*v1.Pod {
	pods := make([]*v1.Pod, n)
	for i := range pods {
		prio := int32(i * 7 % 10)
		pods[i] = &v1.Pod{}
		pods[i].Namespace, pods[i].Name, pods[i].UID = "default", fmt.Sprint("pod-", i), types.UID(fmt.Sprint("uid-", i))
		pods[i].Spec.Priority = &prio
	}
	return pods
}

// benchPlugins is one plugin, which rejects every pod and waits for benchEvent.
type benchPlugins struct{ queue.EveryEvent }

type silent struct{ moves int }

func (s *silent) Moved(queue.Transition) { s.moves++ }
func (s *silent) Failed(error)           {}

var benchStart = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func startOurs(pods []*v1.Pod) []func() {
	q := queue.New(queue.Defaults(), benchPlugins{}, &silent{})
	now := benchStart
	return []func(){
		func() {
			for _, p := range pods {
				now = now.Add(time.Nanosecond)
				q.Add(now, p)
			}
		},
		func() {
			for range pods {
				now = now.Add(time.Nanosecond)
				info, _ := q.Pop(now)
				if err := q.AddUnschedulableIfNotPresent(now, info.Pod, queue.Rejection{UnschedulablePlugins: []string{"A"}}); err != nil {
					panic(err)
				}
			}
		},
		func() { q.MoveAllToActiveOrBackoffQueue(now, benchEvent, nil, nil, nil) },
		func() {
			for range pods {
				info, ok := q.Pop(now)
				if !ok {
					panic("the queue is empty")
				}
				q.Done(now, info.Pod.UID)
			}
		},
	}
}

func startUpstream(pods []*v1.Pod) []func() {
	ctx := context.Background()
	logger := klog.FromContext(ctx)
	client, err := kubernetes.NewForConfig(&rest.Config{}) // never used
	if err != nil {
		panic(err)
	}
	sort, err := queuesort.New(ctx, nil, nil)
	if err != nil {
		panic(err)
	}
	clock := clocktesting.NewFakeClock(benchStart)
	hint := &upstream.QueueingHintFunction{PluginName: "A", QueueingHintFn: func(klog.Logger, *v1.Pod, any, any) (fwk.QueueingHint, error) {
		return fwk.Queue, nil
	}}
	stop := make(chan struct{})
	q := upstream.NewPriorityQueue(sort.(fwk.QueueSortPlugin).Less, informers.NewSharedInformerFactory(client, 0),
		upstream.WithClock(clock), upstream.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Second, stop)),
		upstream.WithQueueingHintMapPerProfile(upstream.QueueingHintMapPerProfile{"": {benchEvent: {hint}}}),
		upstream.WithPreEnqueuePluginMap(map[string]map[string]fwk.PreEnqueuePlugin{"": {"Gate": gate{"Gate", &plugins{}}}}))
	return []func(){
		func() {
			for _, p := range pods {
				clock.Step(time.Nanosecond)
				q.Add(ctx, p)
			}
		},
		func() {
			for range pods {
				clock.Step(time.Nanosecond)
				entity, err := q.Pop(logger)
				if err != nil {
					panic(err)
				}
				info := entity.(*framework.QueuedPodInfo)
				info.UnschedulablePlugins = sets.New("A")
				if err := q.AddUnschedulablePodIfNotPresent(logger, info, q.SchedulingCycle()); err != nil {
					panic(err)
				}
			}
		},
		func() { q.MoveAllToActiveOrBackoffQueue(logger, benchEvent, nil, nil, nil) },
		func() {
			for range pods {
				entity, err := q.Pop(logger)
				if err != nil {
					panic(err)
				}
				q.Done(entity.(*framework.QueuedPodInfo).Pod.UID)
			}
			q.Close()
			close(stop)
		},
	}
}
