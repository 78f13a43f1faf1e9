package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

// faultTaint keeps the workload's pods off the nodes of pods with faults.
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
	node.Spec.Taints = []corev1.Taint{faultTaint}
	return createReady(ctx, client, node)
}

// createReady creates a node and makes it ready, with its taints: the API server adds one to a new node.
func createReady(ctx context.Context, client kubernetes.Interface, node *corev1.Node) error {
	nodes := client.CoreV1().Nodes()
	if _, err := nodes.Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	ready := `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}`
	if _, err := nodes.Patch(ctx, node.Name, types.StrategicMergePatchType, []byte(ready), metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	taints, err := json.Marshal(node.Spec.Taints)
	if err != nil {
		return err
	}
	return patchNode(ctx, client, node.Name, fmt.Sprintf(`{"spec":{"taints":%s}}`, taints))
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

// faultyGates turns a gate off with which the scheduler sets the nominated node of a pod that waits on Permit, and clears it after a
// rejection. That update brings a discarded pod back.
const faultyGates = "NominatedNodeNameForExpectation=false"

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
leaderElection: {leaseDuration: 60s, renewDeadline: 40s} # a busy machine must not end the scheduler
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: RejectAfterWait}, {name: ClosedDoor}, {name: SlowPreFilter}]
`, kubeconfig)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return append([]string{"--config=" + path, "--feature-gates=" + faultyGates}, flags...)
}

// verdict is a verdict that schedq prints. Only reports have At.
type verdict struct {
	Pod     string
	At      time.Time
	Code    string
	Certain bool
}

// verdictsOf returns the verdicts of a report on logs, by pod.
func verdictsOf(t *testing.T, logs ...string) map[string]verdict {
	t.Helper()
	out, err := exec.Command(schedq, append([]string{"report", "-o", "json", "--feature-gates", faultyGates}, logs...)...).Output()
	if err != nil {
		t.Fatalf("report on %v: %v", logs, err)
	}
	var report struct{ Verdicts []verdict }
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	all := map[string]verdict{}
	for _, v := range report.Verdicts {
		if _, has := all[v.Pod]; !has {
			all[v.Pod] = v
		}
	}
	return all
}

// doctorPods waits for schedq doctor --pods, and returns its verdicts by pod. Its exit code must be 1 if there are any, otherwise 0.
func (a *attached) doctorPods(t *testing.T) map[string]verdict {
	t.Helper()
	<-a.exited
	text, err := os.ReadFile(a.out)
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Pods []struct {
			Pod     string
			Verdict verdict
		}
	}
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatalf("%v: %v\n%s", a.cmd.Args, err, text)
	}
	all := map[string]verdict{}
	for _, p := range found.Pods {
		all[p.Pod] = p.Verdict
	}
	if code := a.cmd.ProcessState.ExitCode(); code != min(1, len(all)) {
		t.Errorf("doctor --pods exits with %d and has %d verdicts", code, len(all))
	}
	return all
}

// errorsOf returns a file with the start and the error lines of the scheduler's log, as at -v=0, which grows with it until the test
// ends.
func errorsOf(t *testing.T, c *controlplane.ControlPlane) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "errors.log")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer out.Close()
		for copied := 0; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			lines := readLines(t, c.SchedulerLog())
			for _, line := range lines[copied:] {
				if line[0] == 'E' || bytes.Contains(line, []byte(`"Starting Kubernetes Scheduler"`)) {
					_, _ = out.Write(line) // the test fails without the lines
				}
			}
			copied = len(lines)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return path
}

// startFaulty starts a control plane with faulty-scheduler.
func startFaulty(t *testing.T, flags ...string) (*controlplane.ControlPlane, kubernetes.Interface) {
	t.Helper()
	program, err := binaries.FaultyScheduler(t.Context(), *release)
	if err != nil {
		t.Fatal(err)
	}
	c := startControlPlane(t, controlplane.Options{Users: workload.Users})
	client, err := c.Client(controlplane.Admin)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RunScheduler(t.Context(), program, faultyConfig(t, c, flags...)...); err != nil {
		t.Fatal(err)
	}
	return c, client
}

// TestLostPods: doctor --pods finds the pods that the scheduler discards in a minute, with a log at -v=0, and no others.
func TestLostPods(t *testing.T) {
	skipLong(t, true) // it builds a scheduler
	const pods = 3
	c, client := startFaulty(t, "-v=0")
	grant(t, client)
	if err := faultNode(t.Context(), client, "fault-room", "32"); err != nil {
		t.Fatal(err)
	}
	doctor := attach(t, schedqKubeconfig(t, c, ""), "doctor", "--pods", "--for", "60s", "-o", "json", "--feature-gates", faultyGates, "--scheduler-log", c.SchedulerLog())
	doctor.waitWatching(t)
	create := func(name, fault, cpu string) {
		t.Helper()
		if _, err := client.CoreV1().Pods(workload.Namespace).Create(t.Context(), faultPod(name, fault, "fault-room", cpu), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create("large", "", "1000")
	for i := range pods {
		create(fmt.Sprintf("lost-%d", i), "lost", "100m")
	}
	// Each new pod is an event for the pods that wait on Permit. The log must go on for half a minute after a pod is discarded.
	for i := range 100 {
		create(fmt.Sprintf("event-%d", i), "", "10m")
		time.Sleep(500 * time.Millisecond)
	}
	live := doctor.doctorPods(t)
	end(t, c)
	for how, found := range map[string]map[string]verdict{"live": live, "logs": verdictsOf(t, c.AuditLog(), c.SchedulerLog())} {
		for i := range pods {
			if pod := fmt.Sprintf("%s/lost-%d", workload.Namespace, i); found[pod].Code != "Lost" || !found[pod].Certain {
				t.Errorf("%s: %s is %+v", how, pod, found[pod])
			}
		}
		if len(found) != pods {
			t.Errorf("%s: %d verdicts, want %d: %v", how, len(found), pods, found)
		}
	}
}

// settling is how long after attaching faults are planted: watches may break at first, and what happened before they work again is no
// evidence.
const settling = 10 * time.Second

// watched is how long TestVerdicts watches: until all faults are planted, 20 seconds later, one leftover flush, and a minute.
const watched = settling + 20*time.Second + 5*time.Minute + 30*time.Second + time.Minute

// TestVerdicts plants faults, with the field workload beside them, and expects the verdict on each pod within one flush and a minute:
// live, without a log and with logs at -v=2 and at -v=0, and afterwards from the logs. No other pod may have a verdict.
func TestVerdicts(t *testing.T) {
	skipLong(t, true)
	const copies = 3
	t.Run("faults", func(t *testing.T) {
		want := map[string]string{}
		for kind, code := range map[string]string{"hint": "MissedWakeUp", "stale": "StaleView", "nobodys": "NoScheduler", "gated": "Held", "claim": "Held"} {
			for i := range copies {
				want[fmt.Sprintf("%s/%s-%d", workload.Namespace, kind, i)] = code
			}
		}
		withLog := maps.Clone(want)
		for i := range copies {
			withLog[fmt.Sprintf("%s/lost-%d", workload.Namespace, i)] = "Lost"
		}
		expectVerdicts(t, func(how string) map[string]string {
			all := maps.Clone(want)
			if strings.Contains(how, "-v=") {
				all = maps.Clone(withLog)
			}
			// These releases send requests all the time while a crowd is retried, so without a log attempts may be late.
			if (*release == "v1.34.1" || *release == "v1.35.0") && !strings.Contains(how, "-v=2") {
				maps.DeleteFunc(all, func(_, code string) bool { return code == "MissedWakeUp" })
			}
			return all
		}, func(t *testing.T, c *controlplane.ControlPlane, client kubernetes.Interface) func(context.Context) error {
			o := trial{workload: "field"}.plan(t)
			o.Duration, o.Steps = watched, int(4*watched.Seconds())
			run, stop := prepare(t, c, client, o)
			return func(ctx context.Context) error {
				defer stop()
				planted := make(chan error, 1)
				go func() { planted <- plantFaults(ctx, client, copies) }()
				err := run.All(ctx)
				return errors.Join(err, <-planted)
			}
		})
	})
	t.Run("starvation", func(t *testing.T) {
		// Only a log that has every attempt tells that a pod had none: the third failure of an unchanged pod leaves no other trace.
		expectVerdicts(t, func(how string) map[string]string {
			if strings.Contains(how, "-v=2") {
				return map[string]string{workload.Namespace + "/starved": "Starved"}
			}
			return nil
		}, func(t *testing.T, _ *controlplane.ControlPlane, client kubernetes.Interface) func(context.Context) error {
			return func(ctx context.Context) error { return plantStarvation(ctx, client) }
		})
	})
}

// expectVerdicts runs a plant on a control plane of its own, and expects the verdicts that wanted returns for each kind of input.
func expectVerdicts(t *testing.T, wanted func(how string) map[string]string, prepare func(*testing.T, *controlplane.ControlPlane, kubernetes.Interface) func(context.Context) error) {
	c, client := startFaulty(t, "-v=2")
	grant(t, client)
	kubeconfig := schedqKubeconfig(t, c, "")
	plant := prepare(t, c, client)
	doctor := func(flags ...string) *attached {
		a := attach(t, kubeconfig, append([]string{"doctor", "--pods", "--for", watched.String(), "-o", "json", "--feature-gates", faultyGates}, flags...)...)
		a.waitWatching(t)
		return a
	}
	quiet := errorsOf(t, c)
	live := map[string]*attached{"live": doctor(), "live, -v=2": doctor("--scheduler-log", c.SchedulerLog()), "live, -v=0": doctor("--scheduler-log", quiet)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	began := time.Now().Add(settling)
	time.AfterFunc(settling, func() { ended <- plant(ctx) })
	found := map[string]map[string]verdict{}
	for how, a := range live {
		found[how] = a.doctorPods(t)
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	end(t, c)
	found["audit log"] = verdictsOf(t, c.AuditLog())
	found["audit log, -v=2"] = verdictsOf(t, c.AuditLog(), c.SchedulerLog())
	found["audit log, -v=0"] = verdictsOf(t, c.AuditLog(), quiet)
	for _, how := range slices.Sorted(maps.Keys(found)) {
		want := wanted(how)
		right := 0
		for _, pod := range slices.Sorted(maps.Keys(want)) {
			v := found[how][pod]
			after := "–"
			if !v.At.IsZero() {
				after = v.At.Sub(began).Round(time.Second).String()
			}
			t.Logf("%-16s %-20s want %-12s got %-12s certain %-5t after %s", how, pod, want[pod], v.Code, v.Certain, after)
			if v.Code == want[pod] {
				right++
			}
		}
		if share := float64(right) / float64(len(want)); share < 0.95 {
			t.Errorf("%s: %d of %d faults are found", how, right, len(want))
		}
		for pod, v := range found[how] {
			if _, planted := want[pod]; !planted && v.Code != "Held" && !(v.Code == "MissedWakeUp" && strings.HasPrefix(pod, workload.Namespace+"/hint-")) { // the workload holds pods, too
				t.Errorf("%s: %s has the verdict %s", how, pod, v.Code)
			}
		}
	}
}

// TestNoVerdicts: the field workload gives no verdict but that pods are held, on an unpatched scheduler, on one that is paused for two
// minutes, and on two schedulers that both work on all pods.
func TestNoVerdicts(t *testing.T) {
	skipLong(t, true)
	for _, test := range []struct {
		name    string
		disturb func(context.Context, *controlplane.ControlPlane) error
	}{
		{"undisturbed", func(context.Context, *controlplane.ControlPlane) error { return nil }},
		{"paused", func(ctx context.Context, c *controlplane.ControlPlane) error {
			if err := syscall.Kill(c.SchedulerPID(), syscall.SIGSTOP); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Minute):
			}
			return syscall.Kill(c.SchedulerPID(), syscall.SIGCONT)
		}},
		{"two schedulers", func(ctx context.Context, c *controlplane.ControlPlane) error { return c.RunSecondScheduler(ctx) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := trial{release: *release, workload: "field"}
			c, client := tr.start(t)
			// A paused scheduler keeps its lease.
			if err := c.RunScheduler(t.Context(), "", "--leader-elect-lease-duration=10m", "--leader-elect-renew-deadline=9m"); err != nil {
				t.Fatal(err)
			}
			run, stop := prepare(t, c, client, tr.plan(t))
			disturbed := make(chan error, 1)
			time.AfterFunc(*lasting/4, func() { disturbed <- test.disturb(t.Context(), c) })
			if err := errors.Join(run.All(t.Context()), <-disturbed); err != nil {
				t.Fatal(err)
			}
			stop()
			end(t, c)
			expectHeld(t, c)
		})
	}
}

// expectHeld checks that no pod has another verdict than Held.
func expectHeld(t *testing.T, c *controlplane.ControlPlane) {
	t.Helper()
	for how, logs := range map[string][]string{"audit log": {c.AuditLog()}, "with the scheduler's log": {c.AuditLog(), c.SchedulerLog()}} {
		held := 0
		for pod, v := range verdictsOf(t, logs...) {
			if v.Code == "Held" {
				held++
			} else {
				t.Errorf("%s: %s has the verdict %s at %s", how, pod, v.Code, v.At.Format(time.TimeOnly))
			}
		}
		t.Logf("%s: %d pods are held", how, held)
	}
}

// TestRecordFaults runs a faulty-scheduler with the field workload, or with pods that starve if -workload is starve, and writes the files
// that TestRecord writes.
func TestRecordFaults(t *testing.T) {
	if *out == "" {
		t.Skip("set -out DIRECTORY to make a recording")
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		t.Fatal(err)
	}
	c, client := startFaulty(t)
	if *kind == "starve" {
		ctx, cancel := context.WithTimeout(t.Context(), *lasting)
		defer cancel()
		if err := plantStarvation(ctx, client); err != nil {
			t.Fatal(err)
		}
	} else {
		run, stop := prepare(t, c, client, trial{workload: "field"}.plan(t))
		planted := make(chan error, 1)
		go func() { planted <- plantFaults(t.Context(), client, 3) }()
		if err := errors.Join(run.All(t.Context()), <-planted); err != nil {
			t.Fatal(err)
		}
		stop()
	}
	end(t, c)
	pack(t, c.AuditLog(), filepath.Join(*out, "audit.log.gz"))
	pack(t, c.SchedulerLog(), filepath.Join(*out, "sched.log.gz"))
}
