package classic_test

import (
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/classic"
)

// printer is an Observer that prints moves and errors.
type printer struct{}

func (printer) Moved(t queue.Transition) {
	fmt.Println(strings.TrimSpace(fmt.Sprintf("%s: %s → %s %s", t.Pod.Name, t.From, t.To, t.Event)))
}

func (printer) Failed(err error) { fmt.Println(err) }

// A pod that fits on no node waits until a node is added. A real scheduler also calls Run, and calls Pop in a loop.
func Example() {
	clock := clocktesting.NewFakeClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	q := classic.New(queue.Defaults(), classic.WithClock(clock), classic.WithObserver(printer{}))

	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "default", "web-0", "1"
	if err := q.Add(pod); err != nil {
		fmt.Println(err)
	}

	info, err := q.Pop()
	if err != nil {
		fmt.Println(err)
		return
	}
	info.UnschedulablePlugins = []string{"NodeResourcesFit"}
	if err := q.AddUnschedulableIfNotPresent(info, q.SchedulingCycle()); err != nil {
		fmt.Println(err)
	}
	pods, summary := q.PendingPods()
	fmt.Println(len(pods), "pending:", summary)

	clock.Step(10 * time.Second) // the backoff ends
	nodeAdd := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}
	if err := q.MoveAllToActiveOrBackoffQueue(nodeAdd, nil, &v1.Node{}, nil); err != nil {
		fmt.Println(err)
	}

	if info, err = q.Pop(); err != nil {
		fmt.Println(err)
		return
	}
	q.Bound(info.Pod.UID)

	q.Close()
	_, err = q.Pop()
	fmt.Println(err)

	// Output:
	// web-0:  → active UnscheduledPodAdd
	// web-0: active → inflight
	// web-0: inflight → unschedulable ScheduleAttemptFailure
	// 1 pending: activeQ:0; backoffQ:0; unschedulableEntities:1
	// web-0: unschedulable → active NodeAdd
	// web-0: active → inflight
	// web-0: inflight → scheduled
	// the scheduling queue is closed
}
