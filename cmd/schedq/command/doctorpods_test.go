package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// quietStream is a cluster in which a scheduler binds a new pod every ten seconds and nothing else
// happens.
type quietStream struct {
	objects        []runtime.Object
	attached, next time.Time
	pods           int
}

func (*quietStream) Name() sources.SafeText        { return "quiet" }
func (*quietStream) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (s *quietStream) Take() (events []sources.Event, _ sources.Status) {
	now := time.Now()
	add := func(verb sources.Verb, obj runtime.Object) {
		events = append(events, sources.Event{Time: now, Fact: &sources.ObjectChange{Verb: verb, Object: obj}})
	}
	if s.attached.IsZero() {
		s.attached = now
		for _, obj := range s.objects {
			add(sources.Added, obj)
		}
		events = append(events, sources.Event{Time: now, Fact: &sources.Attached{Nodes: true}})
	}
	if !now.Before(s.next) {
		s.next = now.Add(10 * time.Second)
		s.pods++
		pod := waitingPod(fmt.Sprintf("web-%d", s.pods))
		add(sources.Added, pod.DeepCopy())
		pod.Spec.NodeName, pod.ResourceVersion = "node-a", "2"
		add(sources.Updated, pod)
	}
	return events, sources.Status{Attached: s.attached}
}

// waitingPod returns a pod that was created now.
func waitingPod(name string) *corev1.Pod {
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), ResourceVersion: "1", CreationTimestamp: metav1.Now()},
		Spec:       corev1.PodSpec{SchedulerName: "default-scheduler"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
}

// TestDoctorPods: after its time, doctor --pods reports exactly the pods that wait for something
// that does not happen.
func TestDoctorPods(t *testing.T) {
	// kube-scheduler's debugger listens for a signal. The runtime's first listener must not belong to the bubble.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	synctest.Test(t, func(t *testing.T) {
		node := &corev1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "node-a", ResourceVersion: "1"},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}}}
		gated, nobodys := waitingPod("gated"), waitingPod("nobodys")
		gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
		nobodys.Spec.SchedulerName = "retired"
		stream := &quietStream{objects: []runtime.Object{node, gated, nobodys}}
		d := podsDoctor{lasts: verdictsTake}
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		cmd.SetErr(&strings.Builder{})
		found, err := d.watch(cmd, &kubeFlags{}, stream, timeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]opinion.Code{}
		for _, p := range found.Pods {
			got[string(p.Pod)] = p.Verdict.Code
		}
		if len(got) != 2 || got["shop/gated"] != opinion.Held || got["shop/nobodys"] != opinion.NoScheduler || found.Pending != 2 {
			t.Errorf("%d pods, verdicts: %v", found.Pending, got)
		}
		for _, want := range []string{"quiet: watched for 7 min, 2 pods pending\n1 no scheduler?, 1 held\n", "\nshop/nobodys: no scheduler", "\nshop/gated: held\n", "example.com/quota"} {
			if text := found.String(); !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	})
}
