package cycle

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// sameForAll returns n equal nodes.
func sameForAll(n int) []runtime.Object {
	var nodes []runtime.Object
	for i := range n {
		nodes = append(nodes, aNode(fmt.Sprintf("n%03d", i)))
	}
	return nodes
}

// TestTies checks that the seed breaks ties between equal nodes.
func TestTies(t *testing.T) {
	cfg := defaultConfig(t)
	run := func(seed uint64) []string {
		st := newStoryWith(t, cfg, seed, sameForAll(50)...)
		var nodes []string
		for i := range 200 {
			nodes = append(nodes, st.binds(aPod(fmt.Sprint("p", i), requests("cpu", "100m"))))
		}
		return nodes
	}
	first, again, other := run(1), run(1), run(2)
	if !slices.Equal(first, again) {
		t.Error("the same seed chose other nodes")
	}
	if slices.Equal(first, other) {
		t.Error("another seed chose the same nodes")
	}
	used := map[string]int{}
	for _, node := range first {
		used[node]++
	}
	if len(used) != 50 || used[first[0]] != 4 {
		t.Errorf("the pods are not spread evenly: %v", used)
	}
}

// TestTiesWithSampling checks the same with more nodes than an attempt evaluates.
func TestTiesWithSampling(t *testing.T) {
	cfg := defaultConfig(t)
	run := func() (nodes []string) {
		st := newStoryWith(t, cfg, 1, sameForAll(300)...)
		for i := range 50 {
			a := st.tries(aPod(fmt.Sprint("p", i), requests("cpu", "100m")))
			if a.Evaluated >= 300 || a.Feasible != a.Evaluated {
				t.Fatalf("%d of %d nodes were looked at, %d fit", a.Evaluated, a.Nodes, a.Feasible)
			}
			nodes = append(nodes, a.Node)
		}
		return nodes
	}
	if !slices.Equal(run(), run()) {
		t.Error("the same seed chose other nodes")
	}
}

// TestTiesOfPreemption checks the same for victims. Upstream iterates over a map and uses the wall
// clock.
func TestTiesOfPreemption(t *testing.T) {
	cfg := defaultConfig(t)
	run := func(seed uint64) (chosen []string) {
		st := newStoryWith(t, cfg, seed, sameForAll(250)...)
		for i := range 250 {
			node := fmt.Sprintf("n%03d", i)
			st.put(at(node, aPod("a-"+node, requests("cpu", "2"))), at(node, aPod("b-"+node, requests("cpu", "2"))))
		}
		for i := range 20 {
			a := st.tries(aPod(fmt.Sprint("high-", i), requests("cpu", "2"), priority(10)))
			chosen = append(chosen, a.Nominated)
		}
		return append(chosen, st.victims())
	}
	first := run(1)
	for range 3 {
		if !slices.Equal(run(1), first) {
			t.Fatal("the same seed chose other victims")
		}
	}
	if slices.Equal(run(2), first) {
		t.Error("another seed chose the same victims")
	}
	if slices.Contains(first, "") {
		t.Errorf("nominated are %v", first)
	}
}

// TestPreemptionCriteria checks upstream's criteria for a node, one after the other.
func TestPreemptionCriteria(t *testing.T) {
	large := requests("cpu", "4")
	for _, c := range []struct {
		name       string
		better, no []*v1.Pod
	}{
		{"the less important victim", []*v1.Pod{aPod("x", large)}, []*v1.Pod{aPod("y", large, priority(1))}},
		{"the smaller sum", []*v1.Pod{aPod("x", large)}, []*v1.Pod{aPod("y", requests("cpu", "2")), aPod("z", requests("cpu", "2"))}},
		{"fewer of them, though more important in all", []*v1.Pod{aPod("x", requests("cpu", "4"), priority(1))},
			[]*v1.Pod{aPod("y", requests("cpu", "2"), priority(1)), aPod("z", requests("cpu", "2"))}},
		{"the one whose most important victim is younger", []*v1.Pod{aPod("x", requests("cpu", "2"), priority(1), startedAt(-5)), aPod("x-2", requests("cpu", "2"), startedAt(-20))},
			[]*v1.Pod{aPod("y", requests("cpu", "2"), priority(1), startedAt(-10)), aPod("y-2", requests("cpu", "2"), startedAt(-1))}},
		{"the younger", []*v1.Pod{aPod("x", large, startedAt(-5))}, []*v1.Pod{aPod("y", large, startedAt(-10))}},
		{"one that has not started", []*v1.Pod{aPod("x", large)}, []*v1.Pod{aPod("y", large, startedAt(-10))}},
	} {
		for seed := range uint64(6) { // and never by chance
			st := newStoryWith(t, defaultConfig(t), seed, aNode("a"), aNode("b"))
			for i, pods := range [][]*v1.Pod{c.better, c.no} {
				for _, pod := range pods {
					st.put(at([]string{"a", "b"}[i], pod))
				}
			}
			if a := st.tries(aPod("high", large, priority(10))); a.Nominated != "a" {
				t.Fatalf("%s: nominated to %q: %s", c.name, a.Nominated, a.Message)
			}
		}
	}
}

// TestEarliest checks the start time of victims that an extender reordered: the earliest among
// those with the highest priority.
func TestEarliest(t *testing.T) {
	victims := []*v1.Pod{aPod("a", priority(1), startedAt(-5)), aPod("b", priority(1), startedAt(-9)), aPod("c", startedAt(-20)), aPod("d", priority(1), startedAt(-1))}
	if got, want := newStory(t).earliest(victims), noon.Add(-9*time.Minute); !got.Equal(want) {
		t.Errorf("the earliest is %s, want %s", got, want)
	}
}

// TestTiesByPreemptor checks that the choice among equal nodes for preemption depends on the pod as
// well as on the seed.
func TestTiesByPreemptor(t *testing.T) {
	chosen := map[string]bool{}
	for i := range 10 {
		st := newStory(t, aNode("a"), aNode("b"), at("a", aPod("x", requests("cpu", "4"))), at("b", aPod("y", requests("cpu", "4"))))
		chosen[st.tries(aPod(fmt.Sprint("high-", i), requests("cpu", "4"), priority(10))).Nominated] = true
	}
	if len(chosen) != 2 {
		t.Errorf("ten pods are nominated to %v", chosen)
	}
}

// TestUID checks that objects that the model creates have distinct UIDs.
func TestUID(t *testing.T) {
	if a, b := uid("pods", "a", "bc"), uid("pods", "ab", "c"); a == b {
		t.Errorf("two objects have the UID %s", a)
	}
}

// TestSameWrites checks that two runs write the same objects, including times.
func TestSameWrites(t *testing.T) {
	run := func() (texts []string) {
		st := newStory(t, aNode("one"), at("one", aPod("low", requests("cpu", "3"))))
		st.tries(aPod("high", requests("cpu", "2"), priority(10)))
		st.tries(aPod("small", requests("cpu", "1"), priority(10)))
		st.pass(time.Second)
		for _, w := range st.Writes() {
			texts = append(texts, fmt.Sprintf("%+v", w.Object))
		}
		return texts
	}
	if first, again := run(), run(); !slices.Equal(first, again) || len(first) == 0 {
		t.Errorf("wrote %s\nand %s", first, again)
	}
}
