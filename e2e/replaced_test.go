package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/schedq/schedq/e2e/controlplane"
)

// buildReplaced builds kube-scheduler with schedq's queue instead of its own, and returns its path.
func buildReplaced(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("bin/schedq-queue/kube-scheduler")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-gcflags=all=-dwarf=false", "-ldflags=-w", "-o", path, "./kube-scheduler")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=400")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build kube-scheduler with schedq's queue: %v\n%s", err, out)
	}
	return path
}

// TestReplacedQueue runs the same actions with kube-scheduler's own queue and with schedq's. In both logs,
// each pod must make the same moves for the same events, and end on the same node.
func TestReplacedQueue(t *testing.T) {
	var want, got result
	replaced := buildReplaced(t)
	t.Run("play", func(t *testing.T) {
		t.Run("own queue", func(t *testing.T) {
			t.Parallel()
			want = runActions(t, "")
		})
		t.Run("schedq's queue", func(t *testing.T) {
			t.Parallel()
			got = runActions(t, replaced)
		})
	})
	moves := 0
	for _, pod := range slices.Sorted(maps.Keys(want.moves)) {
		moves += len(want.moves[pod])
		if !slices.Equal(got.moves[pod], want.moves[pod]) {
			t.Errorf("%s with schedq's queue:\n\t%s\nwith kube-scheduler's:\n\t%s", pod, strings.Join(got.moves[pod], "\n\t"), strings.Join(want.moves[pod], "\n\t"))
		}
	}
	if !maps.Equal(got.nodes, want.nodes) {
		t.Errorf("final nodes with schedq's queue:\n%v\nwith kube-scheduler's:\n%v", got.nodes, want.nodes)
	}
	t.Logf("%d pods, %d moves", len(want.moves), moves)
}

// result is the effect of the actions.
type result struct {
	moves map[string][]string // by pod: tier and event
	nodes map[string]string   // by pod; "" for waiting pods
}

// runActions runs the actions on a control plane with the kube-scheduler at path, by default its own.
func runActions(t *testing.T, path string) result {
	c := startControlPlane(t, controlplane.Options{Bare: true})
	client, err := c.Client(controlplane.Admin)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RunScheduler(t.Context(), path, schedulerConfig(t, c)...); err != nil {
		t.Fatal(err)
	}
	for i, do := range actions {
		if err := do(t.Context(), client); err != nil {
			t.Fatalf("action %d: %v", i, err)
		}
		waitQuiet(t, c.SchedulerLog())
	}
	pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.StopScheduler()
	p := result{moves: map[string][]string{}, nodes: map[string]string{}}
	for _, pod := range pods.Items {
		p.nodes[pod.Name] = pod.Spec.NodeName
	}
	for _, m := range movesOf(t, c.SchedulerLog()) {
		p.moves[m.Pod] = append(p.moves[m.Pod], strings.TrimSpace(m.To+" "+m.Event))
	}
	if len(p.moves) == 0 {
		t.Fatalf("no moves in %s", c.SchedulerLog())
	}
	return p
}

// schedulerConfig returns flags for a kube-scheduler without leader election and client rate limits, whose
// backoffs are all one second.
func schedulerConfig(t *testing.T, c *controlplane.ControlPlane) []string {
	t.Helper()
	kubeconfig, err := c.Kubeconfig(controlplane.SchedulerUser, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q, qps: 5000, burst: 5000, contentType: application/vnd.kubernetes.protobuf}
leaderElection: {leaderElect: false}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
`, kubeconfig)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--config=" + path}
}

// waitQuiet waits until no pod has moved for longer than a backoff of one second, rounded up to the second.
func waitQuiet(t *testing.T, log string) {
	t.Helper()
	const quiet = 2100 * time.Millisecond
	last, since := "", time.Now()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("not within a minute"))
	defer cancel()
	err := controlplane.Poll(ctx, func() error {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		if now := lastMove(string(text)); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) < quiet {
			return fmt.Errorf("pods are still moving: %s", last)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lastMove returns the last move in a scheduler's log.
func lastMove(log string) string {
	at := max(strings.LastIndex(log, "moved to an internal scheduling queue"), strings.LastIndex(log, "Successfully bound pod to node"),
		strings.LastIndex(log, "Delete event for unscheduled pod"))
	if at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(log[at:], "\n")
	return fmt.Sprintf("%d: %s", at, line)
}

// action changes the cluster.
type action = func(context.Context, kubernetes.Interface) error

// actions run one after the other. Pods are added, fit, don't fit, are gated, preempt, change and are
// deleted; nodes are added and change. Each leaves at most one feasible node, so there are no ties.
var actions = []action{
	addPriority("urgent", 1000),
	addPriority("low", -10),
	addNode("n-1", "4", nil), // without nodes, pods would be retried continuously
	addPods(queuedPod("a-0", "1"), queuedPod("a-1", "1"), queuedPod("a-2", "1"), queuedPod("a-3", "1")),
	addPods(queuedPod("big", "3"), ofPriority(queuedPod("one", "1"), "low"), queuedPod("huge", "100")),
	addPods(gatedPod("gated-1"), gatedPod("gated-2")),
	addPods(selecting(queuedPod("picky", "500m"), "disk", "ssd")),
	removePod("a-1"), // space for one
	changePod("gated-1", func(p *corev1.Pod) { p.Spec.SchedulingGates = nil }),
	addNode("n-2", "2", &corev1.Taint{Key: "new", Effect: corev1.TaintEffectNoSchedule}),
	changePod("gated-1", func(p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "new", Operator: corev1.TolerationOpExists})
	}),
	changeNode("n-2", func(n *corev1.Node) { n.Labels["disk"] = "ssd" }),
	changeNode("n-2", func(n *corev1.Node) { n.Spec.Taints = nil }),
	addPods(selecting(ofPriority(queuedPod("urgent", "1"), "urgent"), corev1.LabelHostname, "n-1")), // preempts "one"
	changePod("big", func(p *corev1.Pod) { p.Labels = map[string]string{"app": "big"} }),
	removePod("big"),
	removePod("gated-2"),
	addNode("n-3", "8", nil),
}

func queuedPod(name, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64), // no kubelet would end it
			Containers: []corev1.Container{{
				Name: "c", Image: "registry.example/app:1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}},
		},
	}
}

func gatedPod(name string) *corev1.Pod {
	p := queuedPod(name, "100m")
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	return p
}

func selecting(p *corev1.Pod, key, value string) *corev1.Pod {
	p.Spec.NodeSelector = map[string]string{key: value}
	return p
}

func ofPriority(p *corev1.Pod, class string) *corev1.Pod {
	p.Spec.PriorityClassName = class
	return p
}

func addPriority(class string, value int32) action {
	return func(ctx context.Context, client kubernetes.Interface) error {
		_, err := client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: class}, Value: value,
		}, metav1.CreateOptions{})
		return err
	}
}

func addPods(pods ...*corev1.Pod) action {
	return func(ctx context.Context, client kubernetes.Interface) error {
		for _, p := range pods {
			if _, err := client.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		return nil
	}
}

func removePod(name string) action {
	return func(ctx context.Context, client kubernetes.Interface) error {
		return client.CoreV1().Pods("default").Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
	}
}

func changePod(name string, change func(*corev1.Pod)) action {
	return func(ctx context.Context, client kubernetes.Interface) error {
		p, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(p)
		_, err = client.CoreV1().Pods("default").Update(ctx, p, metav1.UpdateOptions{})
		return err
	}
}

func addNode(name, cpu string, taint *corev1.Taint) action {
	return func(ctx context.Context, client kubernetes.Interface) error {
		n := readyNode(name, cpu)
		if taint != nil {
			n.Spec.Taints = []corev1.Taint{*taint}
		}
		_, err := client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{})
		return err
	}
}

func changeNode(name string, change func(*corev1.Node)) action {
	return func(ctx context.Context, client kubernetes.Interface) error {
		n, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(n)
		_, err = client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
		return err
	}
}

func readyNode(name, cpu string) *corev1.Node {
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status:     corev1.NodeStatus{Capacity: size, Allocatable: size},
	}
}
