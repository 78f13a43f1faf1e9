package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/schedq/schedq/e2e/controlplane"
	"github.com/schedq/schedq/e2e/workload"
)

var (
	scale      = flag.Bool("scale", false, "measure schedq attached to a large cluster")
	scaleNodes = flag.Int("nodes", 5_000, "`number` of nodes of the large cluster")
	scalePods  = flag.Int("pods", 50_000, "`number` of pods of the large cluster")
)

// oneIn is the fraction of pods left pending; the others are created with a node.
const oneIn = 1_000

// TestScale logs figures of a large cluster. It is not a benchmark because it runs only once.
func TestScale(t *testing.T) {
	if !*scale {
		t.Skip("run by make e2e-bench")
	}
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
	grant(t, client)
	start := time.Now()
	if err := fill(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d nodes and %d pods created in %v", *scaleNodes, *scalePods, time.Since(start).Round(time.Second))

	link := startProxy(t, c.APIAddress(), 0)
	window := attachTerminal(t, schedqKubeconfig(t, c, link.address()))
	t.Logf("first frame after %v", window.waitFor(t, "activeQ", true).Round(time.Millisecond))
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errors.New("not within 5 minutes"))
	defer cancel()
	s := syncing{window: window, link: link, quiet: window.started}
	if err := controlplane.Poll(ctx, func() error { return s.check(t) }); err != nil {
		t.Fatalf("%v\n%s", err, window.text())
	}
	t.Logf("synced after %v, %.1f MB received for %.1f kB sent",
		s.quiet.Sub(window.started).Round(100*time.Millisecond), float64(link.received.Load())/1e6, float64(link.sent.Load())/1e3)

	time.Sleep(10 * time.Second) // let schedq settle
	pid := window.cmd.Process.Pid
	before, received := cpuTime(t, pid), link.received.Load()
	const idle = 30 * time.Second
	time.Sleep(idle)
	used := cpuTime(t, pid) - before
	t.Logf("idle: %.1f %% of a core, %.1f kB/s from the API server", 100*used.Seconds()/idle.Seconds(), float64(link.received.Load()-received)/1e3/idle.Seconds())
	t.Logf("resident: %d MB, at most %d MB", statusMB(t, pid, "VmRSS"), statusMB(t, pid, "VmHWM"))
}

// fill creates the nodes and pods, with several workers.
func fill(ctx context.Context, client kubernetes.Interface) error {
	node := func(i int) error {
		size := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("128Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}
		_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: map[string]string{corev1.LabelHostname: nodeName(i), "zone": strconv.Itoa(i % 3)}},
			Status:     corev1.NodeStatus{Capacity: size, Allocatable: size},
		}, metav1.CreateOptions{})
		return err
	}
	pod := func(i int) error {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p-%05d", i), Labels: map[string]string{"app": fmt.Sprintf("app-%d", i%500)}},
			Spec: corev1.PodSpec{NodeName: nodeName(i % *scaleNodes), Containers: []corev1.Container{{
				Name: "c", Image: "registry.example/app:1",
				Env: []corev1.EnvVar{{Name: "PASSWORD", Value: workload.Secret}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
				}},
			}}},
		}
		if i%oneIn == 0 {
			p.Spec.NodeName = ""
		}
		_, err := client.CoreV1().Pods(workload.Namespace).Create(ctx, p, metav1.CreateOptions{})
		return err
	}
	return errors.Join(parallel(*scaleNodes, node), parallel(*scalePods, pod))
}

func nodeName(i int) string { return fmt.Sprintf("n-%04d", i) }

// parallel calls do with 0 to n-1 in parallel, and returns the first error.
func parallel(n int, do func(int) error) error {
	const workers = 32
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				errs[w] = do(i)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// syncing detects when schedq has synced the cluster. The recording can't tell, since its size is limited.
type syncing struct {
	window   *terminal
	link     *proxy
	received int64         // bytes
	used     time.Duration // CPU time
	quiet    time.Time     // since when schedq has been idle
}

// check returns an error until the board shows all waiting pods and schedq has been idle for a while.
func (a *syncing) check(t *testing.T) error {
	const (
		little = 10_000                // bytes per 100 ms
		busy   = 20 * time.Millisecond // CPU time per 100 ms
		while  = 2 * time.Second
	)
	received, used := a.link.received.Load(), cpuTime(t, a.window.cmd.Process.Pid)
	if received-a.received > little || used-a.used > busy {
		a.quiet = time.Now()
	}
	a.received, a.used = received, used
	waiting := fmt.Sprintf("activeQ %d ", (*scalePods+oneIn-1)/oneIn)
	if !strings.Contains(a.window.text(), waiting) {
		return fmt.Errorf("the board does not show %q", waiting)
	}
	if time.Since(a.quiet) < while {
		return errors.New("schedq is still busy")
	}
	return nil
}

// cpuTime returns the CPU time of a process.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ") // the process name may contain spaces
	fields := strings.Fields(after)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const ticks = 100 // per second: sysconf(_SC_CLK_TCK)
	return time.Duration(user+system) * time.Second / ticks
}

// statusMB returns a value of /proc/PID/status in megabytes.
func statusMB(t *testing.T, pid int, name string) int {
	t.Helper()
	for _, line := range readLines(t, fmt.Sprintf("/proc/%d/status", pid)) {
		if rest, ok := strings.CutPrefix(string(line), name+":"); ok {
			kB, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kB / 1000
		}
	}
	t.Fatalf("/proc/%d/status has no %s", pid, name)
	return 0
}
