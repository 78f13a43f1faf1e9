package workload

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Runner runs a plan.
type Runner struct {
	client  kubernetes.Interface
	options Options
	nodes   []*corev1.Node
	steps   []Step
	next    int // index in steps
}

// NewRunner plans a workload without running it.
func NewRunner(client kubernetes.Interface, o Options) *Runner {
	r := &Runner{client: client, options: o}
	r.nodes, r.steps = Plan(o)
	return r
}

// Prepare creates the nodes, and the objects to which pods and claims refer.
func (r *Runner) Prepare(ctx context.Context) error {
	_, err := r.client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("priority class: %w", err)
	}
	classes := map[string]string{StorageClass: "kubernetes.io/no-provisioner"}
	if r.options.Field {
		classes[SlowClass] = provisionerName
	}
	late := storagev1.VolumeBindingWaitForFirstConsumer
	for name, provisioner := range classes {
		_, err = r.client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &late,
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("storage class: %w", err)
		}
	}
	for _, n := range r.nodes {
		if err := (addNode{n}).do(ctx, r.client); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
	}
	if r.options.Devices {
		return prepareDevices(ctx, r.client)
	}
	return nil
}

// Next runs the next n steps, or the remaining ones. The first runs at once, the others at the planned
// distance or as soon as the API server allows.
func (r *Runner) Next(ctx context.Context, n int) error {
	last := min(r.next+n, len(r.steps))
	if r.next == last {
		return nil
	}
	start := time.Now().Add(-r.steps[r.next].At)
	for ; r.next < last; r.next++ {
		s := r.steps[r.next]
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Until(start.Add(s.At))):
		}
		if err := s.Do.do(ctx, r.client); err != nil && !isStale(err) {
			return fmt.Errorf("step %d of seed %d, %T: %w", r.next, r.options.Seed, s.Do, err)
		}
	}
	return nil
}

// Half runs the steps of the first half of the time.
func (r *Runner) Half(ctx context.Context) error {
	half := slices.IndexFunc(r.steps, func(s Step) bool { return s.At > r.options.Duration/2 })
	if half < 0 {
		half = len(r.steps)
	}
	return r.Next(ctx, half-r.next)
}

// All runs the remaining steps.
func (r *Runner) All(ctx context.Context) error { return r.Next(ctx, len(r.steps)) }
