package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources/live/livetest"
)

// secret is in every field of a pod that may hold one. It must not be recorded.
const secret = "hunter2"

func pendingPod(name, cpu string) *corev1.Pod {
	zero := int32(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, CreationTimestamp: metav1.Now(), Annotations: map[string]string{"note": secret}},
		Spec: corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, Priority: &zero, Containers: []corev1.Container{{
			Name: "c", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: secret}}, Args: []string{secret}, Command: []string{secret},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// rejected returns pod with the condition of a failed attempt.
func rejected(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available: 1 Insufficient cpu.", LastTransitionTime: metav1.Now()}}
	return pod
}

func readyNode(name, cpu string) *corev1.Node {
	resources := corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Capacity: resources, Allocatable: resources}}
}

// liveRun is a schedq command that runs on a live cluster.
type liveRun struct {
	*testing.T
	lines  chan string
	stderr output
	stop   func() int
}

// runLive starts a command. It ends with the test at the latest.
func runLive(t *testing.T, args ...string) *liveRun {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, w := io.Pipe()
	r := &liveRun{T: t, lines: make(chan string, 10_000)}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, args, strings.NewReader(""), w, &r.stderr)
		w.Close()
	}()
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			r.lines <- lines.Text()
		}
		close(r.lines)
	}()
	stopped := -1
	r.stop = func() int {
		cancel()
		if stopped < 0 {
			stopped = <-code
		}
		return stopped
	}
	t.Cleanup(func() { r.stop() })
	return r
}

// watchLine has the fields of watch -o json that the tests check.
type watchLine struct {
	Pod, From, To, Event, Provenance, Node string
	Attempts                               int
	Plugins                                []string
}

// until reads lines until one matches, and returns it.
func (r *liveRun) until(matches func(watchLine) bool) watchLine {
	r.Helper()
	var seen []string
	for late := time.After(30 * time.Second); ; {
		select {
		case line, ok := <-r.lines:
			if !ok {
				r.Fatalf("the command ended: %s\n%s", r.stderr.String(), strings.Join(seen, "\n"))
			}
			seen = append(seen, line)
			var m watchLine
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				r.Fatalf("%v in %s", err, line)
			}
			if matches(m) {
				return m
			}
		case <-late:
			r.Fatalf("the move is missing in\n%s", strings.Join(seen, "\n"))
		}
	}
}

// moves matches the move of a pod of namespace default to a tier.
func moves(pod, to string) func(watchLine) bool {
	return func(m watchLine) bool { return m.Pod == "default/"+pod && m.To == to }
}

// freeAddress returns a loopback address that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// eventuallyServed waits until the metrics at address contain all lines.
func eventuallyServed(t *testing.T, address string, lines ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%q", lines), func() (string, bool) {
		answer, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			return err.Error(), false
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		missing := slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(string(text), line+"\n") })
		return string(text), err == nil && !missing
	})
}

// TestWatchLive follows a pod from its rejection to its binding. The test acts as the scheduler.
func TestWatchLive(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"))
	r := runLive(t, "watch", "-o", "json", "--kubeconfig", server.Kubeconfig(t))

	big := pendingPod("big", "6")
	server.Put(big)
	r.until(moves("big", "active"))
	server.Put(rejected(big))
	m := r.until(moves("big", "unschedulable"))
	if m.Attempts != 1 || m.Provenance != "modelled" || fmt.Sprint(m.Plugins) != "[NodeResourcesFit]" {
		t.Errorf("rejected: %+v", m)
	}
	server.Put(readyNode("n-2", "8"))
	r.until(func(m watchLine) bool { return m.Pod == "default/big" && m.Event == "NodeAdd" })
	big.Spec.NodeName = "n-2"
	server.Put(big)
	if m := r.until(moves("big", "scheduled")); m.Node != "n-2" || m.Provenance != "observed" {
		t.Errorf("bound: %+v", m)
	}
	if code := r.stop(); code != 0 {
		t.Errorf("exit %d when stopped: %s", code, r.stderr.String())
	}
	if !strings.Contains(r.stderr.String(), "attached") {
		t.Errorf("%q", r.stderr.String())
	}
}

// TestRecordLive: a recording contains the moves that watch prints, and no secrets.
func TestRecordLive(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"))
	kubeconfig := server.Kubeconfig(t)
	path := filepath.Join(t.TempDir(), "incident.jsonl")
	recorder := runLive(t, "record", "-o", path, "--kubeconfig", kubeconfig)
	watcher := runLive(t, "watch", "-o", "json", "--kubeconfig", kubeconfig)
	fits := pendingPod("fits", "1")
	big := pendingPod("big", "6")
	server.Put(fits, big)
	watcher.until(moves("big", "active"))
	server.Put(rejected(big))
	watcher.until(moves("big", "unschedulable"))
	fits.Spec.NodeName = "n-1"
	server.Put(fits)
	watcher.until(moves("fits", "scheduled"))
	if code := recorder.stop(); code != 0 || !strings.Contains(recorder.stderr.String(), "records to "+path) {
		t.Fatalf("exit %d: %s", code, recorder.stderr.String())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret) {
		t.Error("the recording contains a secret")
	}
	code, out, stderr := schedq(t, "", "watch", path, "-o", "json")
	for _, want := range []string{`"pod":"default/big","from":"inflight","to":"unschedulable"`, `"pod":"default/fits","from":"inflight","to":"scheduled"`} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, %s: no %s in\n%s", code, stderr, want, out)
		}
	}
}

// TestSeedLive: seed writes the objects of a cluster, without secrets, and completes a log.
func TestSeedLive(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"), pendingPod("big", "6"))
	dir := t.TempDir()
	seed, log := filepath.Join(dir, "seed.jsonl.gz"), filepath.Join(dir, "sched.log")
	if code, out, stderr := schedq(t, "", "seed", "-o", seed, "--kubeconfig", server.Kubeconfig(t)); code != 0 || !strings.Contains(stderr, "records to "+seed) {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	_, text, _ := schedq(t, "", "convert", seed, "-o", "-")
	if strings.Contains(text, secret) || !strings.Contains(text, `"attached"`) || !strings.Contains(text, `"name":"big"`) {
		t.Errorf("a secret, or missing objects:\n%s", text)
	}
	now := time.Now().UTC()
	line := fmt.Sprintf("I%s       1 schedule_one.go:1194] \"Unable to schedule pod; no fit; waiting\" pod=\"default/big\" err=\"0/1 nodes are available: 1 Insufficient cpu.\"\n", now.Format("0102 15:04:05.000000"))
	if err := os.WriteFile(log, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := schedq(t, "", "explain", "big", log, "--seed", seed)
	if code != 0 || !strings.Contains(out, "cpu") || !strings.Contains(out, "6") {
		t.Errorf("exit %d: %s\n%s", code, stderr, out)
	}
}

func TestExplainAndReportLive(t *testing.T) {
	server := livetest.New(t)
	big := pendingPod("big", "6")
	big.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/1 nodes are available: 1 Insufficient cpu.", LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Minute))}}
	server.Put(readyNode("n-1", "4"), big)
	kubeconfig := server.Kubeconfig(t)
	code, out, stderr := schedq(t, "", "explain", "big", "-n", "default", "--kubeconfig", kubeconfig)
	for _, want := range []string{"default/big at", "estimated", "needs 6 cpu, free 4 of 4"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, %s: no %q in\n%s", code, stderr, want, out)
		}
	}
	code, out, stderr = schedq(t, "", "list", "--kubeconfig", kubeconfig)
	for _, want := range []string{"unschedulable?  ", "\n? is estimated"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, %s: no %q in\n%s", code, stderr, want, out)
		}
	}
	code, out, stderr = schedq(t, "", "report", "--for", "3s", "--kubeconfig", kubeconfig)
	if code != 0 || !strings.Contains(out, "1 pods, 1 moves") {
		t.Errorf("exit %d, %s, %s", code, out, stderr)
	}
}

// TestConnectErrors: an error on the way to a cluster is one line without the token.
func TestConnectErrors(t *testing.T) {
	server := livetest.New(t)
	kubeconfig := server.Kubeconfig(t)
	forbidden := livetest.New(t)
	forbidden.Refuse("pods", 403)
	unauthorized := livetest.New(t)
	unauthorized.Refuse("", 401)
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tls.Close)
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	gone := livetest.New(t) // last, or another server may get its port
	elsewhere := gone.Kubeconfig(t)
	gone.Close()
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	withUser := func(name, user string) string {
		return writer(t)(name, strings.Replace(string(text), "{token: secret-token}", user, 1))
	}
	plugin := withUser("plugin", "{exec: {apiVersion: client.authentication.k8s.io/v1, command: /no/such/plugin, interactiveMode: Never}}")
	device := withUser("device", "{tokenFile: /dev/zero}")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"endless":       {[]string{"--kubeconfig", "/dev/zero"}, 1, "the kubeconfig: /dev/zero is not a regular file"},
		"endless token": {[]string{"--kubeconfig", device}, 1, "the kubeconfig's tokenFile: /dev/zero is not a regular file"},
		"no kubeconfig": {[]string{"--kubeconfig", filepath.Join(t.TempDir(), "none")}, 1, "can't read the kubeconfig"},
		"no context":    {[]string{"--kubeconfig", kubeconfig, "--context", "prod"}, 1, "no context prod"},
		"unreachable":   {[]string{"--kubeconfig", elsewhere}, 1, "can't be reached"},
		"certificate":   {[]string{"--kubeconfig", kubeconfig, "--server", tls.URL}, 1, "certificate"},
		"no rights":     {[]string{"--kubeconfig", forbidden.Kubeconfig(t)}, 1, "you may not list pods in all namespaces"},
		"bad token":     {[]string{"--kubeconfig", unauthorized.Kubeconfig(t)}, 1, "does not take your credentials (401)"},
		"plugin":        {[]string{"--kubeconfig", plugin, "--server", tls.URL, "--insecure-skip-tls-verify"}, 1, "the credential plugin of the kubeconfig failed"},
		"lease":         {[]string{"--kubeconfig", kubeconfig, "--scheduler-lease", "x"}, 2, "not a NAMESPACE/NAME"},
		"no log":        {[]string{"--kubeconfig", kubeconfig, "--scheduler-log", "/no/such/log"}, 1, "no such file"},
		"not metrics":   {[]string{"--kubeconfig", kubeconfig, "--scheduler-metrics", "10259"}, 2, "not the URL"},
	} {
		for _, command := range [][]string{{"watch"}, {"record", "-o", filepath.Join(t.TempDir(), "x.jsonl")}} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			var stdout, stderr output
			code := run(ctx, append(command, c.args...), strings.NewReader(""), &stdout, &stderr)
			cancel()
			got := stderr.String()
			line, _, _ := strings.Cut(got, "\nSee schedq ")
			if code != c.code || !strings.Contains(got, c.want) || stdout.String() != "" || strings.Contains(strings.TrimSpace(line), "\n") || strings.Contains(got, "secret-token") {
				t.Errorf("%s: schedq %s: exit %d, %q, want %d and %q", name, command[0], code, got, c.code, c.want)
			}
		}
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	server := livetest.New(t)
	code, _, stderr := schedq(t, "", "record", "-o", "/dev/full", "--kubeconfig", server.Kubeconfig(t))
	if code != 1 || stderr != "schedq: /dev/full can't be written: no space left on device\n" {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// TestSchedulerSources: the scheduler's log adds its moves, and its metrics the counts.
func TestSchedulerSources(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"))
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "# TYPE scheduler_pending_pods gauge\nscheduler_pending_pods{queue=\"active\"} 1\nscheduler_pending_pods{queue=\"gated\"} 7\n")
	}))
	t.Cleanup(metrics.Close)
	logged := writer(t)("scheduler.log", "I1121 10:00:00.000000       1 schedule_one.go:117] \"Attempting to schedule pod\" pod=\"default/before\"\n")
	path := filepath.Join(t.TempDir(), "both.jsonl")
	kubeconfig := server.Kubeconfig(t)
	runLive(t, "record", "-o", path, "--kubeconfig", kubeconfig, "--scheduler-log", logged, "--scheduler-metrics", metrics.URL)
	watcher := runLive(t, "watch", "-o", "json", "--kubeconfig", kubeconfig, "--scheduler-log", logged)
	server.Put(pendingPod("there", "1"))
	watcher.until(func(watchLine) bool { return true })

	f, err := os.OpenFile(logged, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	now := time.Now().UTC()
	fmt.Fprintf(f, "I%s       1 active_queue.go:414] \"Entity moved to an internal scheduling queue\" type=\"pod\" entity=\"default/logged\" event=\"UnscheduledPodAdd\" queue=\"Active\"\n", now.Format("0102 15:04:05.000000"))
	if m := watcher.until(moves("logged", "active")); m.Provenance != "observed" {
		t.Errorf("%+v", m)
	}
	eventuallyIn(t, path, `"counts":{"active":1,"backoff":0,"unschedulable":0,"gated":7}`)
	eventuallyIn(t, path, `"move":{"pod":"default/logged","to":"active"`)
}

// TestLogAtV2: a scheduler's log below -v=5 corrects the model instead of replacing it.
func TestLogAtV2(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"))
	logged := filepath.Join(t.TempDir(), "scheduler.log")
	f, err := os.Create(logged)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	watcher := runLive(t, "watch", "-o", "json", "--kubeconfig", server.Kubeconfig(t), "--scheduler-log", logged)
	server.Put(pendingPod("big", "6"))
	watcher.until(moves("big", "active"))
	fmt.Fprintf(f, "I%s       1 schedule_one.go:1058] \"Unable to schedule pod; no fit; waiting\" pod=\"default/big\" err=\"0/1 nodes are available: 1 Insufficient cpu.\"\n", time.Now().UTC().Format("0102 15:04:05.000000"))
	watcher.until(moves("big", "unschedulable"))
	watcher.stderr.waitFor(t, "is at -v=2: it corrects the model", 20*time.Second)
}

// eksCounts are the counts that EKS serves at eksPath.
const (
	eksPath   = "/apis/metrics.eks.amazonaws.com/v1/ksh/container/metrics"
	eksCounts = `# HELP scheduler_pending_pods [STABLE] Number of pending pods, by the queue type.
# TYPE scheduler_pending_pods gauge
scheduler_pending_pods{queue="active"} 0
scheduler_pending_pods{queue="backoff"} 2
scheduler_pending_pods{queue="gated"} 0
scheduler_pending_pods{queue="unschedulable"} 5
`
)

// TestEKSCountsElsewhere: --scheduler-metrics eks is reported once on other clusters.
func TestEKSCountsElsewhere(t *testing.T) {
	server := livetest.New(t)
	server.Refuse("metrics", http.StatusNotFound)
	code, _, stderr := schedq(t, "", "report", "--for", "1s", "--kubeconfig", server.Kubeconfig(t), "--scheduler-metrics", "eks")
	if want := "EKS alone serves it"; code != 0 || strings.Count(stderr, want) != 1 {
		t.Errorf("exit %d, %q, want %q once", code, stderr, want)
	}
}

// TestMetricsAddress: the model's metrics have kube-scheduler's names, and EKS' own counts are
// compared.
func TestMetricsAddress(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"))
	server.Answer(eksPath, eksCounts)
	address := freeAddress(t)
	r := runLive(t, "watch", "-o", "json", "--kubeconfig", server.Kubeconfig(t), "--metrics-address", strings.TrimPrefix(address, "127.0.0.1"), "--scheduler-metrics", "eks")
	fits := pendingPod("fits", "1")
	big := pendingPod("big", "6")
	server.Put(big)
	r.until(moves("big", "active"))
	server.Put(rejected(big))
	r.until(moves("big", "unschedulable"))
	server.Put(fits)
	fits.Spec.NodeName = "n-1"
	server.Put(fits)
	r.until(moves("fits", "scheduled"))
	eventuallyServed(t, address,
		`schedq_pending_pods{queue="unschedulable"} 1`,
		`schedq_queue_incoming_pods_total{event="UnscheduledPodAdd",queue="active"} 2`,
		`schedq_queue_incoming_pods_total{event="ScheduleAttemptFailure",queue="unschedulable"} 1`,
		`schedq_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1`,
		`schedq_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1`,
		`schedq_pod_scheduling_sli_duration_seconds_count{attempts="1"} 1`,
		`schedq_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1`,
		`schedq_waiting_pods{age="<1m",namespace="default",plugin="NodeResourcesFit",queue="unschedulable"} 1`,
		`schedq_scheduler_pending_pods{queue="unschedulable"} 5`,
		`schedq_pending_pods_difference{queue="unschedulable"} -4`,
		`schedq_pending_pods_difference{queue="backoff"} -2`,
	)
}

// TestKubectlPlugin: as a kubectl plugin, schedq without a command is schedq attach.
func TestKubectlPlugin(t *testing.T) {
	for _, c := range []struct{ path, args, want string }{
		{"/usr/bin/kubectl-schedq", "", "attach"},
		{"kubectl-schedq", "--context prod", "attach --context prod"},
		{"kubectl-schedq.exe", "watch -n a", "watch -n a"},
		{"kubectl-schedq", "--help", "--help"},
		{"kubectl-schedq", "__complete --context p", "__complete attach --context p"},
		{"kubectl-schedq", "__complete wat", "__complete wat"},
		{"kubectl-schedq", "__complete", "__complete"},
		{"kubectl_complete-schedq", "--context p", "__complete attach --context p"},
		{"kubectl_complete-schedq", "wat", "__complete wat"},
		{"/usr/bin/schedq", "--no-color", "--no-color"},
	} {
		if got := strings.Join(pluginArgs(c.path, strings.Fields(c.args)), " "); got != c.want {
			t.Errorf("%s %s is %q, want %q", c.path, c.args, got, c.want)
		}
	}
}

// TestLimitedView: with access to only the pods and Events of one namespace, one line reports the
// limited view, and the output is based on the pods' creation times, conditions, Events and gates.
func TestLimitedView(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d).Truncate(time.Second)) }
	big, gated := pendingPod("big", "6"), pendingPod("gated", "1")
	big.UID, big.CreationTimestamp, gated.CreationTimestamp = "big", ago(20*time.Minute), ago(30*time.Minute)
	big.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/3 nodes are available: 3 Insufficient cpu.", LastTransitionTime: ago(20 * time.Minute)}}
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
	failed := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "big.1"}, Reason: "FailedScheduling",
		ReportingController: corev1.DefaultSchedulerName, Note: "0/3 nodes are available: 3 Insufficient cpu.",
		EventTime: metav1.NewMicroTime(now.Add(-19 * time.Minute)), Series: &eventsv1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(now.Add(-2 * time.Minute))},
		Regarding: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "big", UID: "big"}}
	server := livetest.New(t)
	server.Put(big, gated, failed)
	server.Limit("default", "pods", "events")
	kubeconfig := server.Kubeconfig(t)

	code, out, stderr := schedq(t, "", "list", "-n", "default", "-o", "json", "--kubeconfig", kubeconfig)
	var listed struct {
		Pods []struct {
			Pod, Tier                     string
			AgeSeconds, InTierSeconds     float64
			InTierAtMost, AttemptsAtLeast bool
			Attempts                      int
			Plugins                       []string
			NextTry                       *time.Time
		}
	}
	err := json.Unmarshal([]byte(out), &listed)
	pods := listed.Pods
	if code != 0 || err != nil || len(pods) != 2 {
		t.Fatalf("exit %d, %v: %s\n%s", code, err, stderr, out)
	}
	within := func(seconds, least float64) bool { return seconds >= least && seconds < least+60 }
	if g := pods[0]; g.Tier != "gated" || !within(g.AgeSeconds, 1800) || g.InTierAtMost || !within(g.InTierSeconds, 1800) || g.AttemptsAtLeast || !slices.Equal(g.Plugins, []string{"SchedulingGates"}) {
		t.Errorf("the gated pod is %+v", g)
	}
	if b := pods[1]; b.Tier != "unschedulable" || !within(b.AgeSeconds, 1200) || !b.InTierAtMost || !within(b.InTierSeconds, 120) || b.Attempts != 7 || !b.AttemptsAtLeast ||
		!slices.Equal(b.Plugins, []string{"NodeResourcesFit"}) || b.NextTry == nil || b.NextTry.Before(now.Add(5*time.Minute)) || b.NextTry.After(now.Add(7*time.Minute)) {
		t.Errorf("the rejected pod is %+v", b)
	}
	if strings.Count(stderr, "limited view: ") != 1 || !strings.Contains(stderr, "kinds are not readable; schedq doctor lists them\n") || len(stderr) > 300 {
		t.Errorf("standard error is %q", stderr)
	}
	code, out, stderr = schedq(t, "", "explain", "big", "-n", "default", "--kubeconfig", kubeconfig)
	for _, want := range []string{"≥7 attempts", "NodeResourcesFit", "schedq doctor"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, %s: no %q in\n%s", code, stderr, want, out)
		}
	}
	if strings.Contains(out, "recording") || strings.Contains(out, "audit log") {
		t.Errorf("the output calls a live cluster a recording:\n%s", out)
	}
}

// TestRecorderRestarted: the longest wait counts from the pod's creation.
func TestRecorderRestarted(t *testing.T) {
	server := livetest.New(t)
	old := pendingPod("old", "6")
	old.CreationTimestamp = metav1.NewTime(time.Now().Add(-2 * time.Hour))
	server.Put(readyNode("n-1", "4"), rejected(old))
	address := freeAddress(t)
	runLive(t, "watch", "-o", "json", "--kubeconfig", server.Kubeconfig(t), "--metrics-address", strings.TrimPrefix(address, "127.0.0.1"))
	eventuallyServed(t, address, `schedq_waiting_pods{age="1h-24h",namespace="default",plugin="NodeResourcesFit",queue="unschedulable"} 1`,
		`schedq_pending_pods{queue="unschedulable"} 1`)
}
