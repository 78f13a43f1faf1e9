package queue

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// toldTiers is a queue's observer that keeps what it is told.
type toldTiers []string

func (t *toldTiers) Moved(m Transition) {
	*t = append(*t, m.Pod.Name+" "+m.From.String()+">"+m.To.String())
}
func (t *toldTiers) Failed(error) {}

func waiting(name, version string, edit func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), ResourceVersion: version},
		Spec: v1.PodSpec{SchedulerName: "default-scheduler"}}
	if edit != nil {
		edit(p)
	}
	return p
}

// TestPods: new pods are queued, let go of when their gates go, and leave when they are bound or gone; those of others, and
// those that were there before, are not queued.
func TestPods(t *testing.T) {
	var told toldTiers
	now := time.Unix(1000, 0)
	pods := NewPods("default-scheduler")
	gated := func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}} }
	bound := func(p *v1.Pod) { p.Spec.NodeName = "node-a" }
	if err := pods.Load(waiting("before", "1", nil)); err != nil {
		t.Fatal(err)
	}
	pods.Queue = New(Defaults(), EveryEvent{}, &told)
	for _, p := range []*v1.Pod{
		waiting("web", "2", nil), waiting("db", "3", gated), waiting("theirs", "4", func(p *v1.Pod) { p.Spec.SchedulerName = "volcano" }),
		waiting("there", "5", bound), waiting("db", "6", nil), waiting("web", "7", bound), waiting("web", "8", bound),
		waiting("db", "9", func(p *v1.Pod) { p.Status.Phase = v1.PodFailed }),
	} {
		if err := pods.Put(now, p); err != nil {
			t.Error(err)
		}
	}
	if err := pods.Put(now, waiting("twin", "10", func(p *v1.Pod) { p.UID = "web" })); err == nil {
		t.Error("two pods have one UID")
	}
	if err := pods.Put(now, waiting("there", "11", func(p *v1.Pod) { p.UID = "another" })); err != nil {
		t.Error(err)
	}
	pods.Remove(now, waiting("there", "12", nil))
	pods.Remove(now, waiting("nobody", "13", nil))
	want := []string{"web >active", "db >gated", "db gated>active", "web active>deleted", "db active>deleted", "there >active", "there active>deleted"}
	if !slices.Equal(told, want) {
		t.Errorf("the queue told %q, want %q", told, want)
	}
	if pods.Get(waiting("before", "", nil)) == nil || pods.Get(waiting("db", "", nil)) != nil || pods.Responsible(waiting("x", "", func(p *v1.Pod) { p.Spec.SchedulerName = "" })) {
		t.Error("the wrong pods are known")
	}
}
