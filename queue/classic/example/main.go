// Command example is a toy scheduler that embeds the scheduling queue. Pods and nodes are created, some attempts
// fail, and changes in the cluster wake pods. It prints each change and the resulting moves in the queue, and ends
// after half a second.
//
//	go run ./queue/classic/example
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/classic"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the scheduler until the cluster has played all changes, or ctx ends.
func run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &printer{out: out, start: time.Now()}
	q := classic.New(queue.Defaults(), classic.WithPlugins(toyPlugins{}), classic.WithObserver(p))
	defer q.Close()
	q.Run(ctx)

	c := &cluster{queue: q, printer: p, running: map[string][]*v1.Pod{}}
	played := make(chan error, 1)
	go func() {
		defer q.Close() // ends the scheduling loop
		played <- c.play(ctx)
	}()
	err := schedule(q, c)
	if err != nil {
		cancel()
	}
	return errors.Join(err, <-played)
}

// schedule is the scheduling loop: it pops a pod, finds a node, and binds the pod or returns it to the queue, until
// the queue is closed.
func schedule(q *classic.Queue, c *cluster) error {
	for {
		info, err := q.Pop()
		if errors.Is(err, classic.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		cycle := q.SchedulingCycle()
		node, rejectors := c.find(info.Pod)
		if node == "" {
			info.UnschedulablePlugins = rejectors // an empty list would mean an error
			if err := q.AddUnschedulableIfNotPresent(info, cycle); err != nil {
				return err
			}
			continue
		}
		if err := c.bind(info.Pod, node); err != nil {
			return err
		}
	}
}

// toyPlugins are the plugins that cluster.find applies. Unlike those of EveryEvent, they register for some events
// only.
type toyPlugins struct{ queue.EveryEvent }

// Registered implements queue.Plugins.
func (p toyPlugins) Registered(plugin string, event fwk.ClusterEvent) bool {
	switch plugin {
	case nodeAffinity: // only a node event can add the label
		return event.Resource == fwk.Node
	case nodeResourcesFit:
		return event.Resource == fwk.Node || event == podDelete
	}
	return p.EveryEvent.Registered(plugin, event)
}

// Hint implements queue.Plugins.
func (p toyPlugins) Hint(plugin string, pod *v1.Pod, event fwk.ClusterEvent, _, newObj any) (fwk.QueueingHint, error) {
	if !p.Registered(plugin, event) {
		return fwk.QueueSkip, nil
	}
	if node, ok := newObj.(*v1.Node); ok && plugin == nodeAffinity && !hasLabels(node, pod.Spec.NodeSelector) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

var podDelete = fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete}

// printer prints the changes in the cluster and the moves in the queue, which arrive from two goroutines.
type printer struct {
	start time.Time
	mu    sync.Mutex
	out   io.Writer
}

// Moved implements queue.Observer.
func (p *printer) Moved(t queue.Transition) {
	var why string
	switch t.To {
	case queue.InFlight:
		why = fmt.Sprintf("attempt %d", t.Attempts)
	case queue.Unschedulable:
		why = "rejected by " + strings.Join(t.UnschedulablePlugins, ", ")
	case queue.Gated:
		why = "gated by " + t.GatingPlugin
	default:
		why = t.Event
	}
	p.print(t.Time, fmt.Sprintf("  %-6s %13s → %-13s %s", t.Pod.Name, t.From, t.To, why))
}

// Failed implements queue.Observer.
func (p *printer) Failed(err error) { p.print(time.Now(), err.Error()) }

func (p *printer) print(at time.Time, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%4d ms  %s\n", at.Sub(p.start).Milliseconds(), strings.TrimRight(line, " "))
}

// newPod returns a pod that takes one of a node's slots.
func newPod(name string, priority int32) *v1.Pod {
	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "default", name, types.UID(name)
	pod.Spec.Priority = &priority
	return pod
}
