// Command kube-scheduler is upstream's program with plugins and patches that make it lose, forget and starve
// pods; see controlplane.Faults. It treats only pods and nodes with the label "fault" differently.
package main

import (
	"context"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/cli"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(
		app.WithPlugin("RejectAfterWait", factory(rejectAfterWait{})),
		app.WithPlugin("ClosedDoor", factory(closedDoor{})),
		app.WithPlugin("SlowPreFilter", factory(slowPreFilter{})),
	)))
}

func factory(p fwk.Plugin) func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return p, nil }
}

func fault(p *corev1.Pod) string { return p.Labels["fault"] }

// rejectAfterWait lets pods with fault=lost wait, and rejects them. Most events of other pods wake them.
type rejectAfterWait struct{}

func (rejectAfterWait) Name() string { return "RejectAfterWait" }

func (rejectAfterWait) Permit(_ context.Context, _ fwk.CycleState, p *corev1.Pod, _ string) (*fwk.Status, time.Duration) {
	if fault(p) == "lost" {
		return fwk.NewStatus(fwk.Wait), 2 * time.Second
	}
	return nil, 0
}

func (rejectAfterWait) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Add | fwk.Delete}}}, nil
}

// closedDoor rejects pods with fault=door on all nodes.
type closedDoor struct{}

func (closedDoor) Name() string { return "ClosedDoor" }

func (closedDoor) Filter(_ context.Context, _ fwk.CycleState, p *corev1.Pod, _ fwk.NodeInfo) *fwk.Status {
	if fault(p) == "door" {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) had a closed door")
	}
	return nil
}

// slowPreFilter spends time on pods with fault=hopeless, like a slow extender.
type slowPreFilter struct{}

func (slowPreFilter) Name() string { return "SlowPreFilter" }

func (slowPreFilter) PreFilter(_ context.Context, _ fwk.CycleState, p *corev1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if fault(p) == "hopeless" {
		time.Sleep(25 * time.Millisecond)
	}
	return nil, fwk.NewStatus(fwk.Skip)
}

func (slowPreFilter) PreFilterExtensions() fwk.PreFilterExtensions { return nil }
