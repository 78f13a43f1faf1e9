package queue_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// asked are plugins that tell which hints were asked, and answer by the plugin's name.
type asked struct {
	queue.EveryEvent
	hints []string
	queue []string // the plugins whose hint is to queue
}

// Hint implements queue.Plugins.
func (a *asked) Hint(plugin string, pod *v1.Pod, event fwk.ClusterEvent, _, _ any) (fwk.QueueingHint, error) {
	a.hints = append(a.hints, fmt.Sprintf("%s %s %s", plugin, pod.Name, event.Label()))
	if slices.Contains(a.queue, plugin) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// TestHintsAsked: once an answer can't be bettered, no other hint is asked; as upstream's isPodWorthRequeuing and
// determineSchedulingHintForInFlightPod do it.
func TestHintsAsked(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	nodeAdd := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}
	nodeTaint := fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeTaint}
	for name, c := range map[string]struct {
		why      queue.Rejection
		queue    []string
		inFlight bool // the events come during the attempt
		want     []string
	}{
		"a pending plugin": {
			why:   queue.Rejection{UnschedulablePlugins: []string{"U"}, PendingPlugins: []string{"P"}},
			queue: []string{"P", "U"}, want: []string{"P a NodeAdd"},
		},
		"a pending plugin that says no": {
			why:   queue.Rejection{UnschedulablePlugins: []string{"U", "V"}, PendingPlugins: []string{"P"}},
			queue: []string{"U", "V"}, want: []string{"P a NodeAdd", "U a NodeAdd"},
		},
		"in flight, a pending plugin": {
			why:   queue.Rejection{PendingPlugins: []string{"P"}},
			queue: []string{"P"}, inFlight: true, want: []string{"P a NodeAdd"},
		},
		"in flight, no plugin is pending": {
			why:   queue.Rejection{UnschedulablePlugins: []string{"U"}},
			queue: []string{"U"}, inFlight: true, want: []string{"U a NodeAdd"},
		},
		"in flight, a pending plugin may better it": {
			why:   queue.Rejection{UnschedulablePlugins: []string{"U"}, PendingPlugins: []string{"P"}},
			queue: []string{"U"}, inFlight: true, want: []string{"P a NodeAdd", "U a NodeAdd", "P a NodeUpdateNodeTaint", "U a NodeUpdateNodeTaint"},
		},
	} {
		plugins := &asked{queue: c.queue}
		q := queue.New(queue.Defaults(), plugins, nil)
		pod := &v1.Pod{}
		pod.Name, pod.UID = "a", "1"
		q.Add(now, pod)
		q.Pop(now)
		fail := func() {
			if err := q.AddUnschedulableIfNotPresent(now, pod, c.why); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !c.inFlight {
			fail()
		}
		q.MoveAllToActiveOrBackoffQueue(now, nodeAdd, nil, nil, nil)
		if c.inFlight {
			q.MoveAllToActiveOrBackoffQueue(now, nodeTaint, nil, nil, nil)
			fail()
		}
		if !slices.Equal(plugins.hints, c.want) {
			t.Errorf("%s: asked %q, not %q", name, plugins.hints, c.want)
		}
	}
}

// TestWouldWake: asking whether an event would wake pods changes nothing, and a move request for that event then moves those, in each release.
func TestWouldWake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		opts := queue.Defaults()
		if release := rapid.SampledFrom(append([]string{""}, queue.Releases()...)).Draw(t, "release"); release != "" {
			opts, _ = queue.ForRelease(release)
		}
		some := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C"}), 0, 3, rapid.ID[string])
		q := queue.New(opts, &asked{queue: some.Draw(t, "hints say queue")}, nil)
		var pods []*v1.Pod
		for i := range rapid.IntRange(1, 5).Draw(t, "pods") {
			pod := &v1.Pod{}
			pod.Name, pod.UID = fmt.Sprint("pod-", i), types.UID(fmt.Sprint(i))
			pods = append(pods, pod)
			q.Add(now, pod)
			if rapid.IntRange(0, 4).Draw(t, "stays") == 0 {
				continue
			}
			for popped, ok := q.Pop(now); ok; popped, ok = q.Pop(now) {
				why := queue.Rejection{UnschedulablePlugins: some.Draw(t, "unschedulable"), PendingPlugins: some.Draw(t, "pending")}
				if err := q.AddUnschedulableIfNotPresent(now, popped.Pod, why); err != nil {
					t.Fatal(err)
				}
			}
		}
		event := rapid.SampledFrom([]fwk.ClusterEvent{{Resource: fwk.Node, ActionType: fwk.Add}, {Resource: fwk.AssignedPod, ActionType: fwk.Delete}}).Draw(t, "event")
		before, would := map[string]queue.PodInfo{}, map[string]bool{}
		for _, pod := range pods {
			before[pod.Name], _ = q.Get("", pod.Name)
			would[pod.Name] = q.WouldWake("", pod.Name, event, nil, nil)
			if after, _ := q.Get("", pod.Name); !reflect.DeepEqual(after, before[pod.Name]) {
				t.Errorf("%s: %+v, and %+v when that was asked", pod.Name, after, before[pod.Name])
			}
		}
		q.MoveAllToActiveOrBackoffQueue(now, event, nil, nil, nil)
		for _, pod := range pods {
			info, _ := q.Get("", pod.Name)
			if moved := before[pod.Name].Tier == queue.Unschedulable && info.Tier != queue.Unschedulable; moved != would[pod.Name] {
				t.Errorf("%s: moved %t, would %t", pod.Name, moved, would[pod.Name])
			}
		}
		if q.WouldWake("", "stranger", event, nil, nil) {
			t.Error("a pod that is not there would be woken")
		}
	})
}
