package queue_test

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
)

// TestClone checks that calls on a clone do not change the original, and vice versa.
func TestClone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := queue.Defaults()
		opts.PopFromBackoffQ = rapid.Bool().Draw(t, "PopFromBackoffQ")
		opts.GenericWorkload = rapid.Bool().Draw(t, "GenericWorkload")
		m := &misuse{T: t, q: queue.New(opts, nil, nil), now: noon}
		m.calls()
		original, clone := m.q, m.q.Clone(nil, nil)
		before := stateOf(original)
		if got := stateOf(clone); got != before {
			t.Fatalf("the clone is\n%s\nwant\n%s", got, before)
		}
		m.q = clone
		m.calls()
		if got := stateOf(original); got != before {
			t.Fatalf("calls on the clone changed the original from\n%s\nto\n%s", before, got)
		}
		if err := original.Invariants(); err != nil {
			t.Fatal(err)
		}
		second := original.Clone(nil, nil)
		m.q = original
		m.calls()
		if got := stateOf(second); got != before {
			t.Fatalf("calls on the original changed the clone from\n%s\nto\n%s", before, got)
		}
	})
}

// calls makes some calls and checks the invariants after each.
func (m *misuse) calls() {
	for range rapid.IntRange(1, 30).Draw(m.T, "calls") {
		m.now = m.now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, 6 * time.Minute}).Draw(m.T, "later"))
		call := m.call()
		if err := m.q.Invariants(); err != nil {
			m.Fatalf("after %s: %v", call, err)
		}
	}
}

// stateOf returns all state of a queue that its methods expose.
func stateOf(q *queue.Queue) string {
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

// infoText returns all fields of info.
func infoText(info queue.PodInfo) string {
	object := fmt.Sprintf("%s %s %p", info.Pod.Name, info.Pod.UID, info.Pod)
	info.Pod = nil
	return fmt.Sprint(object, info)
}

// TestTiersOutsideTheQueue checks tiers that never contain pods, and invalid tiers.
func TestTiersOutsideTheQueue(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	for _, pod := range manyPods(3) {
		q.Add(noon, pod)
	}
	for _, tier := range []queue.Tier{queue.None, queue.Scheduled, queue.Deleted, queue.Pending + 1, 255} {
		if n := q.PendingPods(tier); n != 0 {
			t.Errorf("PendingPods(%d) = %d, want 0", tier, n)
		}
	}
	if _, err := queue.ParseTier(""); err == nil {
		t.Error("ParseTier accepts an empty name")
	}
	if got := (queue.Pending + 1).String(); got != "Tier(10)" {
		t.Errorf("name of an invalid tier is %s, want Tier(10)", got)
	}
}

// TestIteratorsStop checks that each iterator stops when its caller does.
func TestIteratorsStop(t *testing.T) {
	q := queue.New(queue.Defaults(), nil, nil)
	for i, pod := range manyPods(9) {
		q.Add(noon, pod)
		switch {
		case i < 3:
			q.Pop(noon)
		case i < 6: // to backoffQ
			q.Pop(noon)
			q.MoveAllToActiveOrBackoffQueue(noon, nodeAdd, nil, nil, nil)
			fail(t, q, noon, pod, "A")
		}
	}
	stopsEarly(t, "Pods", q.Pods(queue.Tier.Queued))
	stopsEarly(t, "Upcoming", q.Upcoming())
	stopsEarly(t, "InFlight", q.InFlight())
}

func stopsEarly[T any](t *testing.T, name string, all iter.Seq[T]) {
	t.Helper()
	count := func(limit int) (n int) {
		all(func(T) bool { n++; return n < limit })
		return n
	}
	whole := count(math.MaxInt)
	if whole < 3 {
		t.Fatalf("%s yields %d pods, want at least 3", name, whole)
	}
	for want := 1; want <= whole; want++ {
		if got := count(want); got != want {
			t.Errorf("%s yields %d pods to a caller that stops after %d", name, got, want)
		}
	}
}
