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
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
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

var (
	smallest = flag.Int("smallest", 1000, "from how many pods on the benchmarks against upstream go")
	largest  = flag.Int("largest", 1_000_000, "how many pods they go up to")
)

// rounds returns the number of measurements of each queue with n pods. The benchmark compares the
// best times, because other load on the machine can only make one longer; few pods need many
// rounds.
func rounds(n int) int { return max(5, 50_000/n) }

// groupSize is the number of pods of a pod group.
const groupSize = 10

// load is the pods of a benchmark, and their groups, if any.
type load struct {
	pods   []*v1.Pod
	groups []*schedulingv1beta1.PodGroup
}

// entities returns the number of pops for all pods.
func (l load) entities() int {
	if len(l.groups) > 0 {
		return len(l.groups)
	}
	return len(l.pods)
}

// last returns the name of the last step.
func (l load) last() string {
	if len(l.groups) > 0 {
		return "pop-from-active"
	}
	return "pop-from-backoff"
}

// step is a number of operations that together apply to all pods.
type step struct {
	name       string
	operations int
	do         func(i int)
}

func (s step) all() {
	for i := range s.operations {
		s.do(i)
	}
}

// contestant is a queue to measure. Each round runs its steps in order on a new queue.
type contestant struct {
	name  string
	start func(load) []step
}

var benchEvent = fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}

// BenchmarkAgainstUpstream compares package queue with kube-scheduler's queue on the same pods and
// operations. It prints the nanoseconds per pod and the ratio for each step, and the bytes per
// waiting pod. Our observer receives every move; upstream's logger discards everything.
func BenchmarkAgainstUpstream(b *testing.B) {
	b.Run("pods", func(b *testing.B) { againstUpstream(podsAlone) })
	b.Run("groups", func(b *testing.B) {
		setGroups(b, true)
		defer setGroups(b, false)
		againstUpstream(podsInGroups)
	})
}

func setGroups(b *testing.B, on bool) {
	if err := utilfeature.DefaultMutableFeatureGate.Set(fmt.Sprintf("GenericWorkload=%t", on)); err != nil {
		b.Fatal(err)
	}
}

func againstUpstream(of func(n int) load) {
	klog.SetLogger(klog.Logger{})
	metrics.Register()
	both := []contestant{{"ours", startOurs}, {"upstream", startUpstream}}
	for n := *smallest; n <= *largest; n *= 10 {
		l := of(n)
		times := map[string]map[string][]time.Duration{"ours": {}, "upstream": {}}
		memory := map[string][]int64{}
		var names []string
		for range rounds(n) {
			for _, c := range both {
				before := heap()
				steps := c.start(l)
				names = nil
				for _, s := range steps {
					names = append(names, s.name)
					runtime.GC()
					began := time.Now()
					s.all()
					times[c.name][s.name] = append(times[c.name][s.name], time.Since(began))
					if s.name == "pop-and-fail" {
						memory[c.name] = append(memory[c.name], heap()-before)
					}
				}
				runtime.KeepAlive(steps)
			}
		}
		for _, name := range names {
			ours, theirs := slices.Min(times["ours"][name]), slices.Min(times["upstream"][name])
			fmt.Printf("bench: %s n=%d ours=%d upstream=%d ratio=%.1f\n", name, n, int(ours)/n, int(theirs)/n, float64(theirs)/float64(ours))
		}
		ours, theirs := slices.Min(memory["ours"]), slices.Min(memory["upstream"])
		fmt.Printf("bench: bytes-per-pod n=%d ours=%d upstream=%d ratio=%.1f\n", n, int(ours)/n, int(theirs)/n, float64(theirs)/float64(ours))
	}
}

// BenchmarkWorstCase measures single operations of package queue, and prints the median and the
// 99.9th percentile per step. An operation's time is the minimum of several identical rounds: an
// interrupt takes as long as a hundred operations and hits one in a thousand. Both figures include
// the time to read the clock.
func BenchmarkWorstCase(b *testing.B) {
	for name, of := range map[string]func(n int) load{"pods": podsAlone, "groups": podsInGroups} {
		b.Run(name, func(b *testing.B) {
			if b.N == 1 { // one run suffices
				worstCase(of)
			}
		})
	}
}

func worstCase(of func(n int) load) {
	for n := *smallest; n <= *largest; n *= 10 {
		l := of(n)
		var names []string
		least := map[string][]time.Duration{}
		for range 5 {
			names = nil
			for _, s := range startOurs(l) {
				runtime.GC()
				names = append(names, s.name)
				if least[s.name] == nil {
					least[s.name] = slices.Repeat([]time.Duration{time.Hour}, s.operations)
				}
				for i, before := range least[s.name] {
					began := time.Now()
					s.do(i)
					least[s.name][i] = min(before, time.Since(began))
				}
			}
		}
		for _, name := range names {
			took := least[name]
			if len(took) < 1000 {
				continue // too few for the percentile
			}
			slices.Sort(took)
			median, worst := took[len(took)/2], took[len(took)*999/1000]
			fmt.Printf("bench: %s n=%d median=%d p99.9=%d times=%.1f\n", name, n, median.Nanoseconds(), worst.Nanoseconds(), float64(worst)/float64(median))
		}
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // again, for memory in pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func podsAlone(n int) load {
	pods := make([]*v1.Pod, n)
	for i := range pods {
		prio := int32(i * 7 % 10)
		pods[i] = &v1.Pod{}
		pods[i].Namespace, pods[i].Name, pods[i].UID = "default", fmt.Sprint("pod-", i), types.UID(fmt.Sprint("uid-", i))
		pods[i].Spec.Priority = &prio
	}
	return load{pods: pods}
}

func podsInGroups(n int) load {
	l := podsAlone(n)
	for i := 0; i < n; i += groupSize {
		g := &schedulingv1beta1.PodGroup{}
		g.Namespace, g.Name, g.Spec.Priority = "default", fmt.Sprint("group-", i), l.pods[i].Spec.Priority
		l.groups = append(l.groups, g)
		for _, pod := range l.pods[i:min(i+groupSize, n)] {
			pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &g.Name}
		}
	}
	return l
}

// benchPlugins is one plugin that rejects every pod and registers for benchEvent.
type benchPlugins struct{ queue.EveryEvent }

type silent struct{ moves int }

func (s *silent) Moved(queue.Transition) { s.moves++ }
func (s *silent) Failed(error)           {}

var benchStart = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func startOurs(l load) []step {
	opts := queue.Defaults()
	opts.GenericWorkload = len(l.groups) > 0
	q := queue.New(opts, benchPlugins{}, &silent{})
	now := benchStart
	for _, g := range l.groups {
		q.AddPodGroup(now, g)
	}
	why := queue.Rejection{UnschedulablePlugins: []string{"A"}}
	pop := func() queue.Entity {
		entity, ok := q.PopEntity(now)
		if !ok {
			panic("the queue is empty")
		}
		return entity
	}
	return []step{
		{"add", len(l.pods), func(i int) {
			now = now.Add(time.Nanosecond)
			q.Add(now, l.pods[i])
		}},
		{"pop-and-fail", l.entities(), func(int) {
			now = now.Add(time.Nanosecond)
			entity := pop()
			if entity.Group == nil {
				must(q.AddUnschedulableIfNotPresent(now, entity.Pod.Pod, why))
				return
			}
			for _, info := range entity.Group.Members {
				must(q.AddUnschedulableIfNotPresent(now, info.Pod, why))
			}
			must(q.AddAttemptedPodGroupIfNeeded(now, entity.Group.Name, queue.GroupRejected))
		}},
		{"move", 1, func(int) {
			q.MoveAllToActiveOrBackoffQueue(now, benchEvent, nil, nil, nil)
			if len(l.groups) > 0 { // groups are never popped from backoffQ
				now = now.Add(time.Hour)
				q.FlushBackoffCompleted(now)
			}
		}},
		{l.last(), l.entities(), func(int) {
			entity := pop()
			if entity.Group == nil {
				q.Done(now, entity.Pod.Pod.UID)
				return
			}
			for _, info := range entity.Group.Members {
				q.Done(now, info.Pod.UID)
			}
			must(q.AddAttemptedPodGroupIfNeeded(now, entity.Group.Name, queue.GroupScheduled))
		}},
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func startUpstream(l load) []step {
	ctx := context.Background()
	logger := klog.FromContext(ctx)
	client, err := kubernetes.NewForConfig(&rest.Config{}) // never used
	must(err)
	sort, err := queuesort.New(ctx, nil, nil)
	must(err)
	clock := clocktesting.NewFakeClock(benchStart)
	hint := &upstream.QueueingHintFunction{PluginName: "A", QueueingHintFn: func(klog.Logger, *v1.Pod, any, any) (fwk.QueueingHint, error) {
		return fwk.Queue, nil
	}}
	stop := make(chan struct{})
	q := upstream.NewPriorityQueue(sort.(fwk.QueueSortPlugin).Less, informers.NewSharedInformerFactory(client, 0),
		upstream.WithClock(clock), upstream.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Second, stop)),
		upstream.WithQueueingHintMapPerProfile(upstream.QueueingHintMapPerProfile{"": {benchEvent: {hint}}}),
		upstream.WithPreEnqueuePluginMap(map[string]map[string]fwk.PreEnqueuePlugin{"": {"Gate": gate{"Gate", &plugins{}}}}))
	for _, g := range l.groups {
		q.AddPodGroup(logger, g)
	}
	fail := func(info *framework.QueuedPodInfo) {
		info.UnschedulablePlugins = sets.New("A")
		must(q.AddUnschedulablePodIfNotPresent(logger, info, q.SchedulingCycle()))
	}
	pop := func() fwk.QueuedEntityInfo {
		entity, err := q.Pop(logger)
		must(err)
		return entity
	}
	return []step{
		{"add", len(l.pods), func(i int) {
			clock.Step(time.Nanosecond)
			q.Add(ctx, l.pods[i])
		}},
		{"pop-and-fail", l.entities(), func(int) {
			clock.Step(time.Nanosecond)
			switch entity := pop().(type) {
			case *framework.QueuedPodInfo:
				fail(entity)
			case *framework.QueuedPodGroupInfo:
				entity.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
					fail(info)
					return true
				})
				must(q.AddAttemptedPodGroupIfNeeded(logger, entity, q.SchedulingCycle(), fwk.NewStatus(fwk.Unschedulable)))
			}
		}},
		{"move", 1, func(int) {
			q.MoveAllToActiveOrBackoffQueue(logger, benchEvent, nil, nil, nil)
			if len(l.groups) > 0 {
				clock.Step(time.Hour)
				flushBackoffQCompleted(q, logger)
			}
		}},
		{l.last(), l.entities(), func(i int) {
			switch entity := pop().(type) {
			case *framework.QueuedPodInfo:
				q.Done(entity.Pod.UID)
			case *framework.QueuedPodGroupInfo:
				entity.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
					q.Done(info.Pod.UID)
					return true
				})
				must(q.AddAttemptedPodGroupIfNeeded(logger, entity, q.SchedulingCycle(), nil))
			}
			if i == l.entities()-1 {
				q.Close()
				close(stop)
			}
		}},
	}
}
