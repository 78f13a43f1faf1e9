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
	scaleNodes = flag.Int("nodes", 5_000, "how many nodes the large cluster has")
	scalePods  = flag.Int("pods", 50_000, "how many pods the large cluster has")
)

// oneIn so many pods is left pending; the others are assigned when they are created.
const oneIn = 1_000

// TestScale measures once and prints what it measures. A benchmark would be run again and again.
func TestScale(t *testing.T) {
	if !*scale {
		t.Skip("make e2e-bench runs this")
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
	in := arrival{window: window, link: link, quiet: window.started}
	if err := controlplane.Poll(ctx, func() error { return in.isOver(t) }); err != nil {
		t.Fatalf("%v\n%s", err, window.text())
	}
	t.Logf("all in after %v, %.1f MB of the API server for %.1f kB asked",
		in.quiet.Sub(window.started).Round(100*time.Millisecond), float64(link.answered.Load())/1e6, float64(link.asked.Load())/1e3)

	time.Sleep(10 * time.Second) // what came in is worked off
	pid := window.cmd.Process.Pid
	before, heard := cpuTime(t, pid), link.answered.Load()
	const rest = 30 * time.Second
	time.Sleep(rest)
	used := cpuTime(t, pid) - before
	t.Logf("at rest: %.1f %% of a core, %.1f kB/s of the API server", 100*used.Seconds()/rest.Seconds(), float64(link.answered.Load()-heard)/1e3/rest.Seconds())
	t.Logf("resident: %d MB, at most %d MB", statusMB(t, pid, "VmRSS"), statusMB(t, pid, "VmHWM"))
}

// fill creates the nodes and pods, by several workers at once.
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

// parallel calls do with 0 to n-1, and returns the first error.
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

// arrival waits until all of a cluster has come in. It is not counted in the recording, which has a bound.
type arrival struct {
	window *terminal
	link   *proxy
	heard  int64         // bytes of the API server
	used   time.Duration // of the processor
	quiet  time.Time     // since when schedq neither hears nor works
}

// isOver returns an error until the board has all pods that wait, and schedq has been quiet for a while.
func (a *arrival) isOver(t *testing.T) error {
	const (
		little = 10_000                // bytes in a tenth of a second
		idle   = 20 * time.Millisecond // in as long
		while  = 2 * time.Second
	)
	heard, used := a.link.answered.Load(), cpuTime(t, a.window.cmd.Process.Pid)
	if heard-a.heard > little || used-a.used > idle {
		a.quiet = time.Now()
	}
	a.heard, a.used = heard, used
	waiting := fmt.Sprintf("activeQ %d ", (*scalePods+oneIn-1)/oneIn)
	if !strings.Contains(a.window.text(), waiting) {
		return fmt.Errorf("the board does not say %q", waiting)
	}
	if time.Since(a.quiet) < while {
		return errors.New("schedq is still at work")
	}
	return nil
}

// cpuTime returns the processor time that a process has used.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name before it may have blanks
	fields := strings.Fields(after)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const ticks = 100 // a second: sysconf(_SC_CLK_TCK)
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
