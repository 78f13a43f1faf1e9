package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
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
	scale     = flag.Bool("scale", false, "measure schedq attached to a large cluster")
	scalePods = flag.Int("pods", 50_000, "how many pods the large cluster has")
)

const (
	scaleNodes = 5_000
	// oneIn so many pods is left pending; the others are assigned when they are created.
	oneIn = 1_000
)

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
	t.Logf("%d nodes and %d pods created in %v", scaleNodes, *scalePods, time.Since(start).Round(time.Second))

	window := attachTerminal(t, schedqKubeconfig(t, c, ""))
	t.Logf("first frame after %v", window.waitFor(t, "activeQ", true).Round(time.Millisecond))
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errors.New("not within 5 minutes"))
	defer cancel()
	var recording tally
	if err := controlplane.Poll(ctx, func() error { return recording.allIn(window) }); err != nil {
		t.Fatalf("%v\n%s", err, window.text())
	}
	t.Logf("all in after %v", time.Since(window.started).Round(100*time.Millisecond))

	time.Sleep(10 * time.Second) // what came in is worked off
	pid := window.cmd.Process.Pid
	before := cpuTime(t, pid)
	const rest = 30 * time.Second
	time.Sleep(rest)
	used := cpuTime(t, pid) - before
	t.Logf("at rest: %.1f %% of a core", 100*used.Seconds()/rest.Seconds())
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
			Spec: corev1.PodSpec{NodeName: nodeName(i % scaleNodes), Containers: []corev1.Container{{
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
	return errors.Join(parallel(scaleNodes, node), parallel(*scalePods, pod))
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

// tally counts the objects in the recording that schedq makes, which it reads as it grows: to read all of a large one again and
// again would be more work than what is measured.
type tally struct {
	read        int64
	rest        []byte // the line that is not whole yet
	nodes, pods int
}

// allIn returns an error as long as the recording of w does not hold all nodes and pods.
func (r *tally) allIn(w *terminal) error {
	path, err := w.recording()
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, r.read, 1<<40))
	if err != nil {
		return err
	}
	r.read += int64(len(text))
	text = append(r.rest, text...)
	whole := bytes.LastIndexByte(text, '\n') + 1
	r.nodes += bytes.Count(text[:whole], []byte(`"kind":"Node"`))
	r.pods += bytes.Count(text[:whole], []byte(`"kind":"Pod"`))
	r.rest = bytes.Clone(text[whole:])
	if r.nodes < scaleNodes || r.pods < *scalePods {
		return fmt.Errorf("schedq has recorded %d nodes and %d pods", r.nodes, r.pods)
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
