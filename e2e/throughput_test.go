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

var rounds = flag.Int("rounds", 0, "`number` of full runs of each workload in TestThroughput; 0 runs small ones once")

// bench is a workload for measuring pods per second. The workloads follow the cases of upstream's
// scheduler_perf that need only pods, nodes and an API server.
type bench struct {
	name string
	// nodes is the number of nodes before the scheduler starts, with cpus CPUs each.
	nodes int
	cpus  string
	// before returns pods to create before the counted ones, which wait until each of them is settled.
	before  func(n int) []*corev1.Pod
	settled func(*corev1.Pod) bool
	// counted returns the counted pods.
	counted func(n int) []*corev1.Pod
	// wake, unless nil, is called when all counted pods were rejected once.
	wake func(ctx context.Context, client kubernetes.Interface, n int) error
	// churns continuously adds and deletes a pod on a node. The events wake pods that kube-scheduler's
	// asynchronous preemption leaves waiting when the last victim was already gone; otherwise they would
	// wait for the flush after five minutes.
	churns bool
	// share divides the number of counted pods, for slower workloads.
	share int
}

// benches are the workloads; n is the number of pods.
var benches = []bench{
	{ // SchedulingBasic
		name: "basic", nodes: 100, cpus: "64", share: 1,
		counted: func(n int) []*corev1.Pod { return several("counted", n, "10m") },
	},
	{ // Unschedulable: while unschedulable pods wait
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

// outcome is the result of one run of a workload.
type outcome struct {
	perSecond float64
	processor time.Duration // CPU time of the scheduler for all counted pods
	bound     string        // the numbers of bound pods at the end
}

// TestThroughput runs five workloads with kube-scheduler's own queue and with schedq's, alternating, on one
// API server. It logs pods per second and CPU time. The end states must be the same.
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

// report logs the medians, and fails if the end states differ or schedq's queue is below the floor.
func (b bench) report(t *testing.T, n int, own, ours []outcome) {
	t.Helper()
	if own[0].bound != ours[0].bound {
		t.Errorf("%s: bound pods with kube-scheduler's queue: %s\nwith schedq's: %s", b.name, own[0].bound, ours[0].bound)
	}
	rate := func(o []outcome) float64 { return median(o, func(o outcome) float64 { return o.perSecond }) }
	used := func(o []outcome) float64 {
		return median(o, func(o outcome) float64 { return float64(o.processor.Microseconds()) / float64(n) })
	}
	t.Logf("%-14s %5d pods: %6.0f per second with kube-scheduler's queue, %6.0f with schedq's: %.2f×; CPU time per pod %5.0f µs, %5.0f µs: %.2f×",
		b.name, n, rate(own), rate(ours), rate(ours)/rate(own), used(own), used(ours), used(ours)/used(own))
	// The floor is below all measurements. A single small run is not checked.
	const floor = 0.8
	if *rounds > 0 && rate(ours) < floor*rate(own) {
		t.Errorf("%s: %.0f pods per second with schedq's queue, %.0f with kube-scheduler's", b.name, rate(ours), rate(own))
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

// play runs the workload once with n counted pods and the scheduler at path.
func (b bench) play(t *testing.T, c *controlplane.ControlPlane, client kubernetes.Interface, path string, n int) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, fmt.Errorf("%s has not finished within 5 minutes", b.name))
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

// churn repeatedly creates and deletes a pod on a node until the returned function is called.
func churn(ctx context.Context, t *testing.T, client kubernetes.Interface) func() {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			pod := queuedPod("churn", "1m")
			pod.Spec.NodeName = nodeName(0)
			if err := errors.Join(addPods(pod)(ctx, client), removePod(pod.Name)(ctx, client)); err != nil && ctx.Err() == nil {
				t.Errorf("churn: %v", err)
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
			err = errors.New("pods remain")
		}
		return err
	})
}

// watchedPods holds the pods of a watch.
type watchedPods struct {
	pods   map[string]*corev1.Pod
	events <-chan *corev1.Pod // a deleted pod has no UID
}

// watchPods watches the pods until ctx ends. There must be none yet.
func watchPods(ctx context.Context, t *testing.T, client kubernetes.Interface) *watchedPods {
	t.Helper()
	list, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine the API server closes watches; this one resumes.
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
				t.Errorf("the watch of pods failed: %v", event.Object)
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

// wait waits until n pods match.
func (w *watchedPods) wait(ctx context.Context, t *testing.T, n int, match func(*corev1.Pod) bool) {
	t.Helper()
	matching := 0
	for _, p := range w.pods {
		if match(p) {
			matching++
		}
	}
	for matching < n {
		select {
		case p, ok := <-w.events:
			if !ok {
				t.Fatalf("the watch of pods ended; %d of %d are ready", matching, n)
			}
			if old := w.pods[p.Name]; old != nil && match(old) {
				matching--
			}
			if w.pods[p.Name] = p; p.UID == "" {
				delete(w.pods, p.Name)
			} else if match(p) {
				matching++
			}
		case <-ctx.Done():
			t.Fatalf("%v; %d of %d pods are ready", context.Cause(ctx), matching, n)
		}
	}
}

// bound formats the number of bound pods of each kind.
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
