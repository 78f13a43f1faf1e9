package queue_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// hintRecorder records which hints were asked.
type hintRecorder struct {
	queue.EveryEvent
	hints []string
	queue []string // plugins whose hint returns Queue
}

// Hint implements queue.Plugins.
func (r *hintRecorder) Hint(plugin string, pod *v1.Pod, event fwk.ClusterEvent, _, _ any) (fwk.QueueingHint, error) {
	r.hints = append(r.hints, fmt.Sprintf("%s %s %s", plugin, pod.Name, event.Label()))
	if slices.Contains(r.queue, plugin) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// TestHintsAsked checks that no further hint is asked after the best possible answer, as in upstream's
// isPodWorthRequeuing and determineSchedulingHintForInFlightPod.
func TestHintsAsked(t *testing.T) {
	nodeTaint := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeTaint}
	for name, c := range map[string]struct {
		why      queue.Rejection
		queue    []string
		inFlight bool // the events occur during the attempt
		want     []string
	}{
		"a pending plugin": {
			why:   queue.Rejection{UnschedulablePlugins: []string{"U"}, PendingPlugins: []string{"P"}},
			queue: []string{"P", "U"}, want: []string{"P a NodeAdd"},
		},
		"a pending plugin that skips": {
			why:   queue.Rejection{UnschedulablePlugins: []string{"U", "V"}, PendingPlugins: []string{"P"}},
			queue: []string{"U", "V"}, want: []string{"P a NodeAdd", "U a NodeAdd"},
		},
		"in flight, a pending plugin": {
			why:   queue.Rejection{PendingPlugins: []string{"P"}},
			queue: []string{"P"}, inFlight: true, want: []string{"P a NodeAdd"},
		},
		"in flight, no pending plugin": {
			why:   queue.Rejection{UnschedulablePlugins: []string{"U"}},
			queue: []string{"U"}, inFlight: true, want: []string{"U a NodeAdd"},
		},
		"in flight, a pending plugin that may queue later": {
			why:   queue.Rejection{UnschedulablePlugins: []string{"U"}, PendingPlugins: []string{"P"}},
			queue: []string{"U"}, inFlight: true, want: []string{"P a NodeAdd", "U a NodeAdd", "P a NodeUpdateNodeTaint", "U a NodeUpdateNodeTaint"},
		},
	} {
		plugins := &hintRecorder{queue: c.queue}
		q := queue.New(queue.Defaults(), plugins, nil)
		pod := newPod("a", "1")
		q.Add(noon, pod)
		q.Pop(noon)
		fail := func() {
			if err := q.AddUnschedulableIfNotPresent(noon, pod, c.why); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !c.inFlight {
			fail()
		}
		q.MoveAllToActiveOrBackoffQueue(noon, nodeAdd, nil, nil, nil)
		if c.inFlight {
			q.MoveAllToActiveOrBackoffQueue(noon, nodeTaint, nil, nil, nil)
			fail()
		}
		if !slices.Equal(plugins.hints, c.want) {
			t.Errorf("%s: asked %q, want %q", name, plugins.hints, c.want)
		}
	}
}

// TestWouldWake checks in each release that WouldWake changes nothing, and that a move request then moves exactly
// the pods that it predicts.
func TestWouldWake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := queue.Defaults()
		if release := rapid.SampledFrom(append([]string{""}, queue.Releases()...)).Draw(t, "release"); release != "" {
			opts, _ = queue.ForRelease(release)
		}
		some := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C"}), 0, 3, rapid.ID[string])
		q := queue.New(opts, &hintRecorder{queue: some.Draw(t, "hints return Queue")}, nil)
		var pods []*v1.Pod
		for i := range rapid.IntRange(1, 5).Draw(t, "pods") {
			pod := newPod(fmt.Sprint("pod-", i), fmt.Sprint(i))
			pods = append(pods, pod)
			q.Add(noon, pod)
			if rapid.IntRange(0, 4).Draw(t, "stays active") == 0 {
				continue
			}
			for popped, ok := q.Pop(noon); ok; popped, ok = q.Pop(noon) {
				why := queue.Rejection{UnschedulablePlugins: some.Draw(t, "unschedulable"), PendingPlugins: some.Draw(t, "pending")}
				if err := q.AddUnschedulableIfNotPresent(noon, popped.Pod, why); err != nil {
					t.Fatal(err)
				}
			}
		}
		event := rapid.SampledFrom([]fwk.ClusterEvent{nodeAdd, {Resource: fwk.AssignedPod, ActionType: fwk.Delete}}).Draw(t, "event")
		before, would := map[string]queue.PodInfo{}, map[string]bool{}
		for _, pod := range pods {
			before[pod.Name], _ = q.Get("", pod.Name)
			would[pod.Name] = q.WouldWake("", pod.Name, event, nil, nil)
			if after, _ := q.Get("", pod.Name); !reflect.DeepEqual(after, before[pod.Name]) {
				t.Errorf("WouldWake changed %s from %+v to %+v", pod.Name, before[pod.Name], after)
			}
		}
		q.MoveAllToActiveOrBackoffQueue(noon, event, nil, nil, nil)
		for _, pod := range pods {
			info, _ := q.Get("", pod.Name)
			if moved := before[pod.Name].Tier == queue.Unschedulable && info.Tier != queue.Unschedulable; moved != would[pod.Name] {
				t.Errorf("%s moved: %t; WouldWake: %t", pod.Name, moved, would[pod.Name])
			}
		}
		if q.WouldWake("", "stranger", event, nil, nil) {
			t.Error("WouldWake is true for an unknown pod")
		}
	})
}
