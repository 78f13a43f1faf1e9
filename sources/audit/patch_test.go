package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/sources"
)

// asked is a request at level Request, as kubelets' writes of status are on EKS, GKE and AKS.
func asked(at float64, resource, ns, name, body string) req {
	return req{at: at, verb: "patch", resource: resource, sub: "status", ns: ns, name: name, level: "Request", body: body}
}

// TestRequests: of a request without its answer, what it asks for is applied to the object that is known.
func TestRequests(t *testing.T) {
	ready := `"type":"Ready","status":"True","lastHeartbeatTime":"2026-11-21T10:00:0%dZ"`
	log, err := read(t, by("kubelet/v1.33.5",
		req{at: 1, verb: "create", resource: "nodes", name: "node-a", response: node(1, "")},
		req{at: 1, verb: "create", resource: "pods", ns: "default", name: "a", response: pod("a", 2, `"nodeName":"node-a"`)},
		asked(2, "nodes", "", "node-a", `{"status":{"$setElementOrder/conditions":[{"type":"Ready"}],"allocatable":{"cpu":"2"},"conditions":[{`+fmt.Sprintf(ready, 2)+`}]}}`),
		asked(3, "nodes", "", "node-a", `{"status":{"$setElementOrder/conditions":[{"type":"Ready"}],"conditions":[{`+fmt.Sprintf(ready, 3)+`}]}}`), // a heartbeat
		asked(4, "pods", "default", "a", `{"metadata":{"uid":"a","labels":{"x":"y"}},"status":{"$setElementOrder/conditions":[{"type":"Ready"}],"conditions":[{"type":"Ready","status":"False"}],"phase":"Succeeded"}}`),
		asked(5, "pods", "default", "stranger", `{"status":{"phase":"Failed"}}`),
		asked(6, "pods", "default", "a", `{"status":{"phase":7}}`), // no such phase
		req{at: 6.1, verb: "patch", resource: "nodes", name: "node-a", level: "Request", body: `[{"op":"add","path":"/spec/unschedulable","value":true}]`},
		req{at: 6.2, verb: "patch", resource: "nodes", name: "node-a", level: "Request", uri: "/api/v1/nodes/node-a?fieldManager=x", body: `{"kind":"Node","apiVersion":"v1","spec":{"taints":[{"key":"gpu","effect":"NoSchedule"}]}}`},
		req{at: 7, verb: "patch", resource: "pods", ns: "default", name: "a", level: "Metadata"},
	))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, e := range order(log) {
		c := e.Fact.(*sources.ObjectChange)
		fmt.Fprintf(&got, "%s %s", e.Time.Format("05"), c.Verb)
		switch o := c.Object.(type) {
		case *corev1.Node:
			fmt.Fprintf(&got, " node: %s cpu, %d conditions, %t, %d taints\n", o.Status.Allocatable.Cpu(), len(o.Status.Conditions), o.Spec.Unschedulable, len(o.Spec.Taints))
		case *corev1.Pod:
			fmt.Fprintf(&got, " pod on %s: %s %v\n", o.Spec.NodeName, o.Status.Phase, o.Labels)
		}
	}
	const want = `01 added node: 0 cpu, 0 conditions, false, 0 taints
01 added pod on node-a: Pending map[]
02 updated node: 2 cpu, 1 conditions, false, 0 taints
04 updated pod on node-a: Succeeded map[]
06 updated node: 2 cpu, 1 conditions, true, 0 taints
06 updated node: 2 cpu, 1 conditions, true, 1 taints
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

// TestNamedEvents: the name of an Event that kube-scheduler wrote tells the pod and the moment of a failed attempt, unless
// the pod was bound then, or before.
func TestNamedEvents(t *testing.T) {
	named := func(at float64, pod string, second int) req {
		nanos := time.Date(2026, 11, 21, 10, 0, second, 2003000, time.UTC).UnixNano()
		return req{at: at, verb: "create", resource: "events.k8s.io/events", ns: "default", name: fmt.Sprintf("%s.%x", pod, nanos), level: "Metadata", code: 201}
	}
	log := by("x", req{at: 1, verb: "create", resource: "pods", ns: "default", name: "a", response: pod("a", 1)},
		req{at: 1, verb: "create", resource: "pods", ns: "default", name: "b", response: pod("b", 2)}) +
		by(scheduler, named(2.01, "a", 2), // failed
			req{at: 4, verb: "create", resource: "pods", sub: "binding", ns: "default", name: "b", body: `{"target":{"name":"node-a"}}`, response: `{"kind":"Status"}`},
			named(4.01, "b", 4), // Scheduled
			named(9, "b", 9),    // Preempted
			named(5.01, "stranger", 5)) +
		by("karpenter", named(3, "a", 3)) // another's
	if got, want := facts(t, log), "02.002003 failed default/a (a): \n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSchedulerByUser: k3s runs kube-scheduler in its own process with its own user agent. The user is the same
// everywhere.
func TestSchedulerByUser(t *testing.T) {
	log := by("x", req{at: 1, verb: "create", resource: "pods", ns: "default", name: "a", response: pod("a", 1)}) +
		strings.Replace(by("k3s/v1.33.5+k3s1 (linux/amd64)", failedScheduling(1.01, "create", failed)), `"username":"u"`, `"username":"system:kube-scheduler"`, 1) +
		by("k3s/v1.33.5+k3s1 (linux/amd64)", failedScheduling(2, "create", series)) // kubelet's, say
	if got, want := facts(t, log), "01.002003 failed default/a (a): 0/1 nodes are available\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTooLarge: objects that were too large to be logged are counted, and told; of a patch whose answer alone was, what it asks for
// is applied.
func TestTooLarge(t *testing.T) {
	const placeholder = `"skipped-too-big-size-object"`
	created := req{at: 1, verb: "create", resource: "pods", ns: "default", name: "a", response: pod("a", 1)}
	truncated := func(at float64) string {
		line := req{at: at, verb: "update", resource: "pods", ns: "default", name: "a"}.line()
		return strings.TrimSuffix(strings.TrimSpace(line), "}") + `,"annotations":{"audit.k8s.io/truncated":"true"}}` + "\n"
	}
	for _, c := range []struct {
		name, log, notice string
		changes           int
	}{
		{"AKS", by("x", created, req{at: 2, verb: "update", resource: "pods", ns: "default", name: "a", body: placeholder, response: placeholder}),
			"the object of one change, of Pod default/a, was too large for the log: its new state is unknown", 1},
		{"kube-apiserver", by("x", created) + truncated(2) + truncated(3),
			"the objects of 2 changes, the first of Pod default/a, were too large for the log: their new states are unknown", 1},
		{"the answer to a patch", by("x", created, req{at: 2, verb: "patch", resource: "pods", sub: "status", ns: "default", name: "a", body: `{"status":{"phase":"Failed"}}`, response: placeholder}), "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, err := read(t, c.log)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(order(log)); got != c.changes {
				t.Errorf("%d changes, want %d", got, c.changes)
			}
			if got := strings.Join(log.Notices, "\n"); c.notice == "" && got != "" || !strings.HasSuffix(got, c.notice) {
				t.Errorf("%q, want %q", got, c.notice)
			}
		})
	}
}
