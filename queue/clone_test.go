package queue_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestClone: whatever happens to a clone, or to the queue that it was made of, the other one stays as it was, and the same calls have
// the same outcome in both.
func TestClone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := queue.Defaults()
		opts.PopFromBackoffQ = rapid.Bool().Draw(t, "PopFromBackoffQ")
		opts.GenericWorkload = rapid.Bool().Draw(t, "GenericWorkload")
		m := &mistaken{T: t, q: queue.New(opts, nil, nil), now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
		m.calls()
		original, clone := m.q, m.q.Clone(nil, nil)
		before := everything(original)
		if got := everything(clone); got != before {
			t.Fatalf("the clone is\n%s\nand it was made of\n%s", got, before)
		}
		m.q = clone
		m.calls()
		if got := everything(original); got != before {
			t.Fatalf("what happened to its clone changed\n%s\nto\n%s", before, got)
		}
		if err := original.Invariants(); err != nil {
			t.Fatal(err)
		}
		second := original.Clone(nil, nil)
		m.q = original
		m.calls()
		if got := everything(second); got != before {
			t.Fatalf("what happened to the queue changed its clone from\n%s\nto\n%s", before, got)
		}
	})
}

// calls makes some calls, after each of which the invariants hold.
func (m *mistaken) calls() {
	for range rapid.IntRange(1, 30).Draw(m.T, "calls") {
		m.now = m.now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, 6 * time.Minute}).Draw(m.T, "later"))
		said := m.call()
		if err := m.q.Invariants(); err != nil {
			m.Fatalf("after %s: %v", said, err)
		}
	}
}

// everything is all that can be asked of a queue.
func everything(q *queue.Queue) string {
	var lines []string
	for info := range q.Pods(func(queue.Tier) bool { return true }) {
		lines = append(lines, fmt.Sprintf("%s/%s %v", info.Pod.Namespace, info.Pod.Name, infoText(info)))
	}
	slices.Sort(lines)
	for info := range q.InFlight() {
		lines = append(lines, fmt.Sprintf("in flight %s %v", infoText(info), q.EventsInFlight(info.Pod.UID)))
	}
	for pod := range q.Upcoming() {
		lines = append(lines, "next "+pod.Name)
	}
	for _, name := range []string{"g", "h"} {
		info, ok := q.Group(types.NamespacedName{Namespace: "default", Name: name})
		for i := range info.Members {
			lines = append(lines, "member "+infoText(info.Members[i]))
		}
		info.Members, info.Object = nil, nil
		lines = append(lines, fmt.Sprint(ok, info))
	}
	for tier := queue.None; tier <= queue.Pending; tier++ {
		lines = append(lines, fmt.Sprint(tier, q.PendingPods(tier)))
	}
	totals := q.IncomingPodsTotal()
	for _, k := range slices.SortedFunc(maps.Keys(totals), func(a, b queue.Incoming) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		lines = append(lines, fmt.Sprint(k, totals[k]))
	}
	return strings.Join(append(lines, fmt.Sprint(q.SchedulingCycle(), q.CanPop())), "\n")
}

// infoText is all that a queue knows of a pod.
func infoText(info queue.PodInfo) string {
	object := fmt.Sprintf("%s %s %p", info.Pod.Name, info.Pod.UID, info.Pod)
	info.Pod = nil
	return fmt.Sprint(object, info)
}

// TestPendingPodsOfNoTier: what is no place in the queue has nobody in it.
func TestPendingPodsOfNoTier(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	for _, pod := range manyPods(3) {
		q.Add(noon, pod)
	}
	for _, tier := range []queue.Tier{queue.None, queue.Scheduled, queue.Deleted, queue.Pending + 1, 255} {
		if n := q.PendingPods(tier); n != 0 {
			t.Errorf("%d pods are in tier %d", n, tier)
		}
	}
	if _, err := queue.ParseTier(""); err == nil {
		t.Error("no name is a tier's")
	}
	if got := (queue.Pending + 1).String(); got != "Tier(10)" {
		t.Errorf("the first number beyond the tiers is called %s", got)
	}
}

// TestAsking: who asks for some of the pods is given no more.
func TestAsking(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	for i, pod := range manyPods(9) {
		q.Add(noon, pod)
		switch {
		case i < 3:
			q.Pop(noon)
		case i < 6: // an error backs off, and a pod that a hint wakes
			q.Pop(noon)
			q.MoveAllToActiveOrBackoffQueue(noon, fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, nil, nil, nil)
			if err := q.AddUnschedulableIfNotPresent(noon, pod, queue.Rejection{UnschedulablePlugins: []string{"A"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, all := range map[string]func(func() bool){
		"Pods": func(more func() bool) {
			for range q.Pods(queue.Tier.Queued) {
				if !more() {
					break
				}
			}
		},
		"Upcoming": func(more func() bool) {
			for range q.Upcoming() {
				if !more() {
					break
				}
			}
		},
		"InFlight": func(more func() bool) {
			for range q.InFlight() {
				if !more() {
					break
				}
			}
		},
	} {
		whole := 0
		all(func() bool { whole++; return true })
		if whole < 3 {
			t.Fatalf("%s yields %d", name, whole)
		}
		for want := 1; want <= whole; want++ {
			got := 0
			all(func() bool { got++; return got < want })
			if got != want {
				t.Errorf("%s yields %d to who stops at %d", name, got, want)
			}
		}
	}
}
