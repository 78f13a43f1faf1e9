package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/schedq/schedq/e2e/controlplane"
)

var rounds = flag.Int("rounds", 0, "how often TestThroughput plays each workload in full; 0 plays small ones once")

// bench is a workload of which pods per second are counted. They are the cases of upstream's scheduler_perf that need nothing but pods,
// nodes and an API server, written anew.
type bench struct {
	name string
	// nodes are there before the scheduler runs, of so many CPUs each.
	nodes int
	cpus  string
	// before are pods that are there before it runs, and are not counted; settled is what each waits for, before the counted ones come.
	before  func(n int) []*corev1.Pod
	settled func(*corev1.Pod) bool
	// counted are those that are.
	counted func(n int) []*corev1.Pod
	// wake, unless nil, is what happens when all the counted pods were tried once, in vain.
	wake func(ctx context.Context, client kubernetes.Interface, n int) error
	// churns is whether a pod comes and goes on a node all the time: an event that wakes a pod which asynchronous preemption has left
	// alone, because its last victim was gone already when it asked (kube-scheduler's own; it would wait for five minutes).
	churns bool
	// share of n is how many pods are counted, for a workload that is slower than the others.
	share int
}

// benches are played with n pods.
var benches = []bench{
	{ // SchedulingBasic
		name: "basic", nodes: 100, cpus: "64", share: 1,
		counted: func(n int) []*corev1.Pod { return several("counted", n, "10m") },
	},
	{ // Unschedulable: while pods that fit nowhere wait
		name: "unschedulable", nodes: 100, cpus: "64", share: 1,
		before:  func(n int) []*corev1.Pod { return several("huge", n/2, "1000") },
		settled: wasRejected,
		counted: func(n int) []*corev1.Pod { return several("counted", n, "10m") },
	},
	{ // SchedulingWhileGated
		name: "gated", nodes: 100, cpus: "64", share: 1,
		before: func(n int) []*corev1.Pod {
			pods := several("gated", n, "10m")
			for _, p := range pods {
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
			}
			return pods
		},
		settled: func(*corev1.Pod) bool { return true },
		counted: func(n int) []*corev1.Pod { return several("counted", n, "10m") },
	},
	{ // PreemptionBasic
		name: "preemption", nodes: 100, cpus: "4", share: 10, churns: true,
		before:  func(int) []*corev1.Pod { return several("victim", 400, "900m") },
		settled: isBound,
		counted: func(n int) []*corev1.Pod {
			pods := several("counted", n, "3")
			for _, p := range pods {
				p.Spec.PriorityClassName = "urgent"
			}
			return pods
		},
	},
	{ // EventHandlingNodeAdd
		name: "nodes added", nodes: 1, cpus: "1", share: 2,
		counted: func(n int) []*corev1.Pod { return several("counted", n, "2") },
		wake: func(ctx context.Context, client kubernetes.Interface, n int) error {
			return parallel((n+9)/10, func(i int) error {
				_, err := client.CoreV1().Nodes().Create(ctx, readyNode(fmt.Sprintf("new-%03d", i), "20"), metav1.CreateOptions{})
				return err
			})
		},
	},
}

func several(name string, n int, cpu string) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = queuedPod(fmt.Sprintf("%s-%05d", name, i), cpu)
	}
	return pods
}

func isBound(p *corev1.Pod) bool { return p.Spec.NodeName != "" }

func wasRejected(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
	})
}

// outcome is what one play of a workload came to.
type outcome struct {
	perSecond float64
	processor time.Duration // of the scheduler, for all counted pods
	bound     string        // who has a node at the end
}

// TestThroughput plays five workloads to kube-scheduler with its own queue and with schedq's, in turn, on one API server, and prints how many
// pods each schedules a second, and how much processor time it takes. The end states must be the same.
func TestThroughput(t *testing.T) {
	n, plays := 200, 1
	if *rounds > 0 {
		n, plays = 1000, *rounds
	}
	queues := map[string]string{"its own": "", "schedq's": buildReplaced(t)}
	c := startControlPlane(t, controlplane.Options{Bare: true})
	config, err := c.Config(controlplane.Admin)
	if err != nil {
		t.Fatal(err)
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := addPriority("urgent", 1000)(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		t.Run(b.name, func(t *testing.T) {
			results := map[string][]outcome{}
			for play := range plays {
				order := []string{"its own", "schedq's"}
				if play%2 == 1 {
					slices.Reverse(order)
				}
				for _, queue := range order {
					results[queue] = append(results[queue], b.play(t, c, client, queues[queue], n/b.share))
				}
			}
			b.report(t, n/b.share, results["its own"], results["schedq's"])
		})
	}
}

// report prints the medians of both, and fails where the end states differ or schedq's queue falls below the floor.
func (b bench) report(t *testing.T, n int, own, ours []outcome) {
	t.Helper()
	if own[0].bound != ours[0].bound {
		t.Errorf("%s: with its own queue these have a node: %s\nwith schedq's these: %s", b.name, own[0].bound, ours[0].bound)
	}
	rate := func(o []outcome) float64 { return median(o, func(o outcome) float64 { return o.perSecond }) }
	used := func(o []outcome) float64 {
		return median(o, func(o outcome) float64 { return float64(o.processor.Microseconds()) / float64(n) })
	}
	t.Logf("%-14s %5d pods: %6.0f a second with its own queue, %6.0f with schedq's: %.2f×; processor a pod %5.0f µs, %5.0f µs: %.2f×",
		b.name, n, rate(own), rate(ours), rate(ours)/rate(own), used(own), used(ours), used(ours)/used(own))
	// Beneath what was measured. One play of a few pods says little.
	const floor = 0.8
	if *rounds > 0 && rate(ours) < floor*rate(own) {
		t.Errorf("%s: schedq's queue schedules %.0f pods a second, and kube-scheduler's own %.0f", b.name, rate(ours), rate(own))
	}
}

func median(outcomes []outcome, value func(outcome) float64) float64 {
	values := make([]float64, len(outcomes))
	for i, o := range outcomes {
		values[i] = value(o)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// play plays the workload once, with n counted pods, to the scheduler at path.
func (b bench) play(t *testing.T, c *controlplane.ControlPlane, client kubernetes.Interface, path string, n int) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, fmt.Errorf("%s has not come to its end within 5 minutes", b.name))
	defer cancel()
	create := func(pods []*corev1.Pod) {
		t.Helper()
		if err := parallel(len(pods), func(i int) error { return addPods(pods[i])(ctx, client) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(empty(ctx, client), parallel(b.nodes, func(i int) error { return addNode(nodeName(i), b.cpus, nil)(ctx, client) })); err != nil {
		t.Fatal(err)
	}
	pods := watchPods(ctx, t, client)
	if err := c.RunScheduler(ctx, path, append(schedulerConfig(t, c), "-v=2")...); err != nil {
		t.Fatal(err)
	}
	defer c.StopScheduler()
	if b.before != nil {
		before := b.before(n)
		create(before)
		pods.wait(ctx, t, len(before), b.settled)
	}
	counted := func(p *corev1.Pod) bool { return strings.HasPrefix(p.Name, "counted-") }
	if b.churns {
		defer churn(ctx, t, client)()
	}
	start, used := time.Now(), cpuTime(t, c.SchedulerPID())
	create(b.counted(n))
	if b.wake != nil {
		pods.wait(ctx, t, n, func(p *corev1.Pod) bool { return counted(p) && wasRejected(p) })
		start, used = time.Now(), cpuTime(t, c.SchedulerPID())
		if err := b.wake(ctx, client, n); err != nil {
			t.Fatal(err)
		}
	}
	pods.wait(ctx, t, n, func(p *corev1.Pod) bool { return counted(p) && isBound(p) })
	return outcome{
		perSecond: float64(n) / time.Since(start).Seconds(),
		processor: cpuTime(t, c.SchedulerPID()) - used,
		bound:     pods.bound(),
	}
}

// churn creates a pod on a node and deletes it, again and again, until the function that it returns is called.
func churn(ctx context.Context, t *testing.T, client kubernetes.Interface) func() {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			pod := queuedPod("churn", "1m")
			pod.Spec.NodeName = nodeName(0)
			if err := errors.Join(addPods(pod)(ctx, client), removePod(pod.Name)(ctx, client)); err != nil && ctx.Err() == nil {
				t.Errorf("the pod that comes and goes: %v", err)
				return
			}
			select {
			case <-time.After(500 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// empty deletes all pods and nodes, and waits until they are gone.
func empty(ctx context.Context, client kubernetes.Interface) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	err := errors.Join(client.CoreV1().Pods("default").DeleteCollection(ctx, now, metav1.ListOptions{}),
		client.CoreV1().Nodes().DeleteCollection(ctx, now, metav1.ListOptions{}))
	if err != nil {
		return err
	}
	return controlplane.Poll(ctx, func() error {
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil && len(pods.Items) > 0 {
			err = errors.New("pods are left")
		}
		return err
	})
}

// watchedPods are the pods as a watch tells of them.
type watchedPods struct {
	pods   map[string]*corev1.Pod
	events <-chan *corev1.Pod // a pod without a name is a watch that ended
}

// watchPods watches the pods, of which there are none yet, until ctx ends.
func watchPods(ctx context.Context, t *testing.T, client kubernetes.Interface) *watchedPods {
	t.Helper()
	list, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine the API server ends watches: this one goes on where it was.
	watch, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: client.CoreV1().Pods("default").Watch,
	})
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan *corev1.Pod, 1<<16)
	go func() {
		defer close(events)
		for event := range watch.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok && ctx.Err() == nil {
				t.Errorf("the watch of pods fails: %v", event.Object)
			} else if ok {
				if event.Type == "DELETED" {
					pod.Spec.NodeName, pod.UID = "", ""
				}
				select {
				case events <- pod:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return &watchedPods{pods: map[string]*corev1.Pod{}, events: events}
}

// wait waits until n pods are so.
func (w *watchedPods) wait(ctx context.Context, t *testing.T, n int, so func(*corev1.Pod) bool) {
	t.Helper()
	are := 0
	for _, p := range w.pods {
		if so(p) {
			are++
		}
	}
	for are < n {
		select {
		case p, ok := <-w.events:
			if !ok {
				t.Fatalf("the watch of pods ended; %d of %d are ready", are, n)
			}
			if old := w.pods[p.Name]; old != nil && so(old) {
				are--
			}
			if w.pods[p.Name] = p; p.UID == "" {
				delete(w.pods, p.Name)
			} else if so(p) {
				are++
			}
		case <-ctx.Done():
			t.Fatalf("%v; %d of %d pods are ready", context.Cause(ctx), are, n)
		}
	}
}

// bound says how many pods of each kind have a node.
func (w *watchedPods) bound() string {
	counts := map[string]int{}
	for name, p := range w.pods {
		kind, _, _ := strings.Cut(name, "-")
		if isBound(p) && kind != "churn" {
			counts[kind]++
		}
	}
	return fmt.Sprint(counts)
}
