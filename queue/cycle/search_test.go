package cycle

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// TestSearch checks that a parallel search finds the same nodes as a sequential one.
func TestSearch(t *testing.T) {
	look := func(workers, need int, fits func(int) bool) (found []int, looked int) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var mu sync.Mutex
		s := &search{workers: workers, need: need}
		s.Until(ctx, 500, func(i int) {
			mu.Lock()
			defer mu.Unlock()
			if looked++; !fits(i) {
				return
			}
			s.found.Add(1)
			if len(found) == need {
				cancel() // as upstream does: at the first that is too much
				return
			}
			found = append(found, i)
		}, "")
		slices.Sort(found)
		return found, looked
	}
	for _, need := range []int{1, 2, 20, 100, 500} {
		for _, every := range []int{1, 2, 3, 50, 1000} {
			fits := func(i int) bool { return i%every == every-1 }
			alone, n := look(1, need, fits)
			if many, m := look(8, need, fits); !slices.Equal(alone, many) || n != m {
				t.Errorf("need %d, one in %d fits: one finds %d of %d, eight %d of %d", need, every, len(alone), n, len(many), m)
			}
		}
	}
}

// TestWorkers checks that the number of workers is GOMAXPROCS, at most 16.
func TestWorkers(t *testing.T) {
	for can, want := range map[int]int{1: 1, 3: 3, 40: 16} {
		was := runtime.GOMAXPROCS(can)
		got, can := workers(), runtime.GOMAXPROCS(was)
		if got != want || can < want {
			t.Errorf("%d look at once, want %d, and then %d can run", got, want, can)
		}
	}
}

// TestWorkersDecideNothing checks that the number of workers does not change the scheduler's
// decisions, including preemption.
func TestWorkersDecideNothing(t *testing.T) {
	run := func(workers int) (decisions []string) {
		st := newStory(t, sameForAll(400)...)
		for _, p := range st.profiles {
			p.(seeded).feasible.workers = workers
			preemptionOf(p).Evaluator.Interface.(seededPreemption).candidates.workers = workers
		}
		for i := range 400 {
			node := fmt.Sprintf("n%03d", i)
			st.put(at(node, aPod("old-"+node, requests("cpu", fmt.Sprint(1+i%3)), priority(int32(i%2)))))
		}
		for i := range 40 {
			a := st.tries(aPod(fmt.Sprint("p", i), requests("cpu", fmt.Sprint(1+i%4)), priority(int32(2-i%2))))
			decisions = append(decisions, fmt.Sprint(a.Node, a.Evaluated, a.Feasible, a.Nominated, a.Message))
		}
		return append(decisions, st.victims())
	}
	if one, many := run(1), run(8); !slices.Equal(one, many) {
		t.Errorf("one decides\n%q\neight\n%q", one, many)
	}
}
