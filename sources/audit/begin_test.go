package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/earlier"
)

// old is metadata of what was there before the logs.
const old = `"creationTimestamp":"2026-11-21T09:00:00Z"`

// withStatus gives a pod a status.
func withStatus(pod, status string) string {
	return strings.TrimSuffix(pod, "}") + `,"status":{` + status + `}}`
}

func condition(status, since string) string {
	return fmt.Sprintf(`"conditions":[{"type":"PodScheduled","status":%q,"lastTransitionTime":"2026-11-21T%sZ"}]`, status, since)
}

// created is the creation of a pod.
func created(at float64, name string, rv int) req {
	return req{at: at, verb: "create", resource: "pods", ns: "default", response: pod(name, rv)}
}

// TestBeginning: what was there when a log began is what it shows of it later, without what happened in between.
func TestBeginning(t *testing.T) {
	patch := func(at float64, response string) req {
		return req{at: at, verb: "patch", resource: "pods", sub: "status", ns: "default", name: "a", response: response}
	}
	for _, c := range []struct {
		name string
		log  []req
		want string
	}{
		{"bound before", []req{patch(2, withStatus(pod("a", 10, old, onNode), condition("True", "09:30:00")))}, "on node-a PodScheduled=True"},
		{"bound after, by its condition", []req{created(1, "b", 8), patch(4, withStatus(pod("a", 10, old, onNode), condition("True", "10:00:03")))}, ""},
		{"bound after, by its binding", []req{{at: 1, verb: "create", resource: "pods", sub: "binding", ns: "default", name: "a", body: `{"target":{"name":"node-a"}}`, response: success}, patch(2, withStatus(pod("a", 10, old, onNode), condition("True", "09:30:00")))}, ""},
		{"rejected before", []req{patch(2, withStatus(pod("a", 10, old), condition("False", "09:30:00")))}, "PodScheduled=False"},
		{"rejected after", []req{created(1, "b", 8), patch(4, withStatus(pod("a", 10, old), condition("False", "10:00:03")))}, ""},
		{"ended after", []req{created(1, "b", 8), patch(4, withStatus(pod("a", 10, old, onNode), `"phase":"Succeeded","conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-11-21T10:00:03Z"}]`))}, "on node-a Running Ready=False"},
		{"deleted after", []req{created(1, "b", 8), {at: 2, verb: "delete", resource: "pods", ns: "default", name: "a", response: pod("a", 10, old, onNode, `"deletionTimestamp":"2026-11-21T10:00:32Z","deletionGracePeriodSeconds":30`)}}, "on node-a"},
		{"deleted before", []req{patch(2, pod("a", 10, old, onNode, `"deletionTimestamp":"2026-11-21T10:00:20Z"`))}, "on node-a terminating"},
		{"came after", []req{created(1, "a", 10)}, "none"},
		{"created later, without a recorded creation", []req{created(1, "b", 8), patch(9, pod("a", 10, `"creationTimestamp":"2026-11-21T10:00:07Z"`))}, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ""
			for _, r := range c.log {
				text += r.line()
			}
			log, err := read(t, text)
			if err != nil {
				t.Fatal(err)
			}
			events := order(log)
			if got := first(events); got != c.want {
				t.Errorf("at the beginning it was %q, want %q", got, c.want)
			}
		})
	}
}

// first returns the state of pod a when the logs begin.
func first(events []sources.Event) string {
	for _, e := range events {
		c, is := e.Fact.(*sources.ObjectChange)
		if !is {
			continue
		}
		p, is := c.Object.(*corev1.Pod)
		if !is || p.Name != "a" || !e.Time.Equal(events[0].Time) || p.CreationTimestamp.IsZero() {
			continue
		}
		var said []string
		if p.Spec.NodeName != "" {
			said = append(said, "on "+p.Spec.NodeName)
		}
		if p.Status.Phase != corev1.PodPending {
			said = append(said, string(p.Status.Phase))
		}
		for _, c := range p.Status.Conditions {
			said = append(said, fmt.Sprintf("%s=%s", c.Type, c.Status))
		}
		if p.DeletionTimestamp != nil {
			said = append(said, "terminating")
		}
		return strings.Join(said, " ")
	}
	return "none"
}

// TestCordonedLater: a taint that came later, and a cordon that its taint has yet to follow, were not there before.
func TestCordonedLater(t *testing.T) {
	for spec, want := range map[string]bool{
		`"unschedulable":true`: false,
		`"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule","timeAdded":"2026-11-21T10:00:09Z"}]`: false,
		`"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule","timeAdded":"2026-11-21T09:00:00Z"}]`: true,
		`"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]`:                                                         true,
	} {
		log, err := read(t, req{at: 9, verb: "patch", resource: "nodes", name: "node-a", response: node(7, spec)}.line()+created(1, "b", 8).line())
		if err != nil {
			t.Fatal(err)
		}
		n := order(log)[0].Fact.(*sources.ObjectChange).Object.(*corev1.Node)
		if n.Spec.Unschedulable != want || len(n.Spec.Taints) > 0 != want {
			t.Errorf("%s: before it was %+v", spec, n.Spec)
		}
	}
}

// TestCordonedBefore: a seed's node is cordoned as the seed has it, whether or not a taint says so, unless the taint came later.
func TestCordonedBefore(t *testing.T) {
	began := time.Date(2026, 11, 21, 10, 0, 1, 0, time.UTC)
	taint := func(at time.Time) []corev1.Taint {
		return []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &metav1.Time{Time: at}}}
	}
	for name, c := range map[string]struct {
		spec corev1.NodeSpec
		want bool
	}{
		"without a taint":  {corev1.NodeSpec{Unschedulable: true}, true},
		"with its taint":   {corev1.NodeSpec{Unschedulable: true, Taints: taint(began.Add(-time.Minute))}, true},
		"tainted later":    {corev1.NodeSpec{Unschedulable: true, Taints: taint(began.Add(time.Second))}, false},
		"no more cordoned": {corev1.NodeSpec{Taints: taint(began.Add(-time.Minute))}, false},
		"not cordoned":     {corev1.NodeSpec{}, false},
	} {
		for what, later := range map[string]string{"the log is silent": "", "the log tells of it": req{at: 9, verb: "patch", resource: "nodes", name: "node-a", response: node(7, "")}.line()} {
			log, err := read(t, created(1, "b", 4).line()+later)
			if err != nil {
				t.Fatal(err)
			}
			seed := &corev1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "node-a", UID: "n1", ResourceVersion: "2"}, Spec: c.spec}
			events, fit := orderSeeded(earlier.Seed{Objects: []runtime.Object{seed}}, log)
			n, is := events[0].Fact.(*sources.ObjectChange).Object.(*corev1.Node)
			if fit.Used != 1 || !is {
				t.Fatalf("%s, %s: the node is not there when the log begins", name, what)
			}
			if n.Spec.Unschedulable != c.want {
				t.Errorf("%s, %s: that it is cordoned when the log begins is %t", name, what, n.Spec.Unschedulable)
			}
		}
	}
}
