package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// cluster makes recordings of API objects alone.
type cluster struct {
	events  []sources.Event
	version int
}

func (c *cluster) add(seconds float64, f sources.Fact) {
	c.events = append(c.events, sources.Event{Time: at(seconds), Fact: f})
}

// happens has an object changed: a copy of it, by edit.
func happens[T interface {
	runtime.Object
	metav1.Object
	DeepCopy() T
}](c *cluster, seconds float64, verb sources.Verb, obj T, edit func(T)) T {
	obj = obj.DeepCopy()
	if edit != nil {
		edit(obj)
	}
	c.version++
	obj.SetResourceVersion(fmt.Sprint(c.version))
	c.add(seconds, &sources.ObjectChange{Verb: verb, Object: obj})
	return obj
}

func node(name, cpu string) *v1.Node {
	room := v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourcePods: resource.MustParse("110")}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelHostname: name}},
		Status:     v1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

func wants(name, cpu string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, Containers: []v1.Container{{
			Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
}

func (c *cluster) recording(until float64) *sources.Recording {
	return &sources.Recording{Name: "made", Events: c.events, End: at(until)}
}

// moves replays rec and tells each move as "second from>to event provenance".
func moves(t *testing.T, rec *sources.Recording, pod string) []string {
	t.Helper()
	var told []string
	err := Replay(t.Context(), rec, Options{}, func(m *Transition) error {
		if m.Pod.Key.Name == pod && m.From != m.To {
			told = append(told, strings.Join(strings.Fields(fmt.Sprintf("%.0f %s>%s %s %s %s", m.Time.Sub(at(0)).Truncate(time.Second).Seconds(),
				m.From, m.To, m.Event, strings.Join(m.UnschedulablePlugins, ","), m.Provenance())), " "))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("it moves\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestShadow: without the scheduler's log, its attempts are modelled and its writes observed.
func TestShadow(t *testing.T) {
	var c cluster
	n := happens(&c, 1, sources.Added, node("node-a", "1"), nil)
	p := happens(&c, 2, sources.Added, wants("web", "2"), nil)
	p = happens(&c, 2.01, sources.Updated, p, func(p *v1.Pod) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable,
			Message: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."}}
	})
	happens(&c, 10, sources.Updated, n, func(n *v1.Node) { n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse("4") })
	happens(&c, 10.01, sources.Updated, p, func(p *v1.Pod) { p.Spec.NodeName = "node-a" })
	compare(t, moves(t, c.recording(20), "web"), []string{
		"2 >active UnscheduledPodAdd modelled",
		"2 active>inflight modelled",
		"2 inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled",
		"10 unschedulable>active NodeUpdateNodeAllocatable NodeResourcesFit modelled",
		"10 active>inflight NodeResourcesFit modelled",
		"10 inflight>scheduled NodeResourcesFit observed",
		"10 scheduled>deleted modelled",
	})
}
