package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/schedq/schedq/e2e/controlplane"
	"github.com/schedq/schedq/e2e/workload"
)

// faultLabel is the label of the pods and nodes that faulty-scheduler treats differently.
const faultLabel = "fault"

// faultNodes are nodes for the pods of TestVerdicts only. Their taint keeps the workload's pods off.
var faultTaint = corev1.Taint{Key: "faults", Effect: corev1.TaintEffectNoSchedule}

// faultNode creates a node with so many CPUs.
func faultNode(ctx context.Context, client kubernetes.Interface, name, cpu string) error {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
	nodes := client.CoreV1().Nodes()
	if _, err := nodes.Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	ready := `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}`
	if _, err := nodes.Patch(ctx, name, types.StrategicMergePatchType, []byte(ready), metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	return patchNode(ctx, client, name, fmt.Sprintf(`{"spec":{"taints":[{"key":%q,"effect":%q}]}}`, faultTaint.Key, faultTaint.Effect))
}

func patchNode(ctx context.Context, client kubernetes.Interface, name, patch string, subresources ...string) error {
	_, err := client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	return err
}

// enlarge gives a node so many CPUs.
func enlarge(ctx context.Context, client kubernetes.Interface, node, cpu string) error {
	return patchNode(ctx, client, node, fmt.Sprintf(`{"status":{"capacity":{"cpu":%[1]q},"allocatable":{"cpu":%[1]q}}}`, cpu), "status")
}

// faultPod returns a pod with a fault that fits only on a node.
func faultPod(name, fault, node, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{faultLabel: fault}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64),
			NodeSelector:                  map[string]string{corev1.LabelHostname: node},
			Tolerations:                   []corev1.Toleration{{Key: faultTaint.Key, Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: "c", Image: "registry.example/app:1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}},
		},
	}
}

// plantFaults creates the pods that the scheduler will lose, forget and starve, and those that others hold, and makes
// the changes that they miss.
func plantFaults(ctx context.Context, client kubernetes.Interface, copies int) error {
	for name, cpu := range map[string]string{"room": "32", "hint": "2", "stale": "2", "door": "32"} {
		if err := faultNode(ctx, client, "fault-"+name, cpu); err != nil {
			return err
		}
	}
	create := func(p *corev1.Pod) error {
		_, err := client.CoreV1().Pods(workload.Namespace).Create(ctx, p, metav1.CreateOptions{})
		return err
	}
	for i := range copies {
		name := func(kind string) string { return fmt.Sprintf("%s-%d", kind, i) }
		nobodys := faultPod(name("nobodys"), "", "fault-room", "100m")
		nobodys.Spec.SchedulerName = "retired-scheduler"
		gated := faultPod(name("gated"), "", "fault-room", "100m")
		gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/never"}}
		claim := faultPod(name("claim"), "", "fault-room", "100m")
		claim.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "no-such-claim"},
		}}}
		for _, p := range []*corev1.Pod{
			faultPod(name("lost"), "lost", "fault-room", "100m"),
			faultPod(name("hint"), "hint", "fault-hint", "4"),
			faultPod(name("stale"), "", "fault-stale", "4"),
			faultPod(name("door"), "door", "fault-door", "100m"),
			faultPod(name("large"), "", "fault-room", "1000"),
			nobodys, gated, claim,
		} {
			if err := create(p); err != nil {
				return err
			}
		}
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(20 * time.Second):
	}
	for _, do := range []func() error{
		func() error {
			return patchNode(ctx, client, "fault-stale", `{"metadata":{"labels":{"fault":"stale"}}}`)
		},
		func() error { return enlarge(ctx, client, "fault-stale", "32") },
		func() error { return enlarge(ctx, client, "fault-hint", "32") },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// hopelessPods is how many pods it takes to keep the scheduler busy for longer than the longest backoff of 10 s, with
// the 25 ms that each of their attempts takes.
const hopelessPods = 600

// plantStarvation creates a pod that fits, and many pods of higher priority that do not, and wakes these all the time
// until the context ends.
func plantStarvation(ctx context.Context, client kubernetes.Interface) error {
	pods := client.CoreV1().Pods(workload.Namespace)
	if err := faultNode(ctx, client, "fault-room", "32"); err != nil {
		return err
	}
	never := corev1.PreemptNever
	_, err := client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "hopeless"}, Value: 1000, PreemptionPolicy: &never,
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	for i := range hopelessPods {
		p := faultPod(fmt.Sprintf("hopeless-%03d", i), "hopeless", "fault-room", "1000")
		p.Spec.PriorityClassName = "hopeless"
		if _, err := pods.Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	bound := func(name string) *corev1.Pod {
		p := faultPod(name, "", "fault-room", "10m")
		p.Spec.NodeName = "fault-room"
		return p
	}
	for i := 0; ; i++ {
		if i == 15 {
			if _, err := pods.Create(ctx, faultPod("starved", "", "fault-room", "1"), metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		name := fmt.Sprintf("finished-%d", i)
		if _, err := pods.Create(ctx, bound(name), metav1.CreateOptions{}); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		if err := pods.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
}

// faultyConfig returns flags for a faulty-scheduler with its plugins.
func faultyConfig(t *testing.T, c *controlplane.ControlPlane, flags ...string) []string {
	t.Helper()
	kubeconfig, err := c.Kubeconfig(controlplane.SchedulerUser, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q}
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: RejectAfterWait}, {name: ClosedDoor}, {name: SlowPreFilter}]
`, kubeconfig)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// With this gate the scheduler sets the nominated node of a pod that waits on Permit, and clears it after a rejection. That
	// update would bring a discarded pod back.
	return append([]string{"--config=" + path, "--feature-gates=NominatedNodeNameForExpectation=false"}, flags...)
}

// TestRecordFaults runs a faulty-scheduler with the field workload, or with pods that starve, and writes the files that TestRecord
// writes.
func TestRecordFaults(t *testing.T) {
	if *out == "" {
		t.Skip("set -out DIRECTORY to make a recording")
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := binaries.FaultyScheduler(t.Context(), *release)
	if err != nil {
		t.Fatal(err)
	}
	c := startControlPlane(t, controlplane.Options{Users: workload.Users})
	client, err := c.Client(controlplane.Admin)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RunScheduler(t.Context(), program, faultyConfig(t, c)...); err != nil {
		t.Fatal(err)
	}
	if *kind == "starve" {
		ctx, cancel := context.WithTimeout(t.Context(), *lasting)
		defer cancel()
		if err := plantStarvation(ctx, client); err != nil {
			t.Fatal(err)
		}
	} else {
		run, stop := prepare(t, c, client, trial{workload: "field"}.plan(t))
		go func() {
			if err := plantFaults(t.Context(), client, 3); err != nil {
				t.Error(err)
			}
		}()
		if err := run.All(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop()
	}
	end(t, c)
	pack(t, c.AuditLog(), filepath.Join(*out, "audit.log.gz"))
	pack(t, c.SchedulerLog(), filepath.Join(*out, "sched.log.gz"))
}
