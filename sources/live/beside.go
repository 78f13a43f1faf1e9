package live

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/sources"
)

// beside merges a stream with others that contain more facts about the same cluster.
type beside struct {
	sources.Stream
	others   []sources.Stream
	attached bool
	logged   *sources.Logged // the latest one before the attach
}

// Beside returns a stream of the events of main and, once main has attached, of others. If one of the others
// ends, it adds a notice.
func Beside(main sources.Stream, others ...sources.Stream) sources.Stream {
	if len(others) == 0 {
		return main
	}
	b := &beside{Stream: main}
	for _, o := range others {
		b.others = append(b.others, &noticed{Stream: o})
	}
	return b
}

// Run implements sources.Stream.
func (b *beside) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, o := range b.others {
		wg.Go(func() { _ = o.Run(ctx) }) // noticed reports why it ended
	}
	err := b.Stream.Run(ctx)
	stop()
	wg.Wait()
	return err
}

// Take implements sources.Stream.
func (b *beside) Take() ([]sources.Event, sources.Status) {
	events, status := b.Stream.Take()
	for _, o := range b.others {
		more, other := o.Take()
		if b.attached {
			events = append(events, more...)
		} else {
			b.early(more)
		}
		status.Notices = append(status.Notices, other.Notices...)
	}
	if !b.attached && !status.Attached.IsZero() {
		b.attached = true
		if b.logged != nil {
			events = append(events, sources.Event{Time: status.Attached, Fact: b.logged})
		}
	}
	return events, status
}

// early drops events before the attach, except that it keeps the verbosity of a log.
func (b *beside) early(events []sources.Event) {
	for _, ev := range events {
		if l, is := ev.Fact.(*sources.Logged); is {
			b.logged = l
		}
	}
}

// noticed adds a notice with the reason when its stream ends.
type noticed struct {
	sources.Stream
	mu    sync.Mutex
	ended string
}

// Run implements sources.Stream.
func (n *noticed) Run(ctx context.Context) error {
	err := n.Stream.Run(ctx)
	if err != nil && ctx.Err() == nil {
		n.mu.Lock()
		n.ended = fmt.Sprintf("%s: %s.", n.Name(), sources.Sanitize(err.Error()))
		n.mu.Unlock()
	}
	return err
}

// Take implements sources.Stream.
func (n *noticed) Take() ([]sources.Event, sources.Status) {
	events, status := n.Stream.Take()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended != "" {
		status.Notices = append(status.Notices, n.ended)
	}
	return events, status
}

// schedulerPod returns the pod in which the scheduler runs, with the labels of kubeadm or of OpenShift (bindata of
// cluster-kube-scheduler-operator).
func (s *Source) schedulerPod() (*corev1.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, obj := range s.store(pods).objects {
		if pod := obj.(*corev1.Pod); isScheduler(pod, s.lease) {
			return pod, nil
		}
	}
	return nil, fmt.Errorf("no pod in %s has the label component=%s", s.lease.namespace, s.lease.name)
}

// isScheduler reports whether pod runs a scheduler that uses that lease.
func isScheduler(pod *corev1.Pod, lease leaseName) bool {
	labels := pod.Labels
	return pod.Namespace == lease.namespace && pod.Spec.NodeName != "" && (labels["component"] == lease.name || lease.namespace == usualLeases[1] && labels["app"] == usualLeases[1])
}
