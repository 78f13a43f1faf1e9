package joined

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// TestForgets: what is remembered depends on the pods that are there, and not on how many came and went.
func TestForgets(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, verbosity := range []int{3, sources.MovesVerbosity} {
		log := &Log{Moves: verbosity == sources.MovesVerbosity}
		if !log.Moves {
			log.Spans = []sources.Event{{Time: noon, Fact: &sources.Logged{Verbosity: verbosity}}}
		}
		held := map[int]uint64{} // bytes, by how many pods came and went
		for _, pods := range []int{2000, 30_000} {
			run := &Recording{Logs: []*Log{log}, Changes: func(context.Context) Events { return changesOf(noon, pods) }, Memory: 1 << 20}
			log.Events = func(context.Context) Events { return linesOf(noon, pods, log.Moves) }
			run.Prepare()
			n := 0
			for _, err := range run.Events(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == 5*pods {
					held[pods] = heap()
				}
			}
			if held[pods] == 0 {
				t.Fatalf("%d pods have %d events", pods, n)
			}
		}
		if held[30_000] > held[2000]+1<<20 {
			t.Errorf("at %d, %d bytes are held of 30,000 pods, and %d of 2,000", verbosity, held[30_000], held[2000])
		}
	}
}

// changesOf yields that one pod comes a second, is tried in vain, gets a node and goes.
func changesOf(noon time.Time, pods int) Events {
	return func(yield func(sources.Event, error) bool) {
		for i := range pods {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("p-%d", i), UID: types.UID(fmt.Sprintf("u-%d", i))}}
			bound := pod.DeepCopy()
			bound.Spec.NodeName = "n"
			for ms, f := range []sources.Fact{
				&sources.ObjectChange{Verb: sources.Added, Object: pod},
				&sources.FailedAttempt{Pod: nameOf(i), UID: pod.UID, Recorded: sources.Recorded{Version: "1", Count: 1}},
				&sources.ObjectChange{Verb: sources.Updated, Object: bound},
				&sources.ObjectChange{Verb: sources.Deleted, Object: bound},
			} {
				if !yield(sources.Event{Time: noon.Add(time.Duration(i)*time.Second + time.Duration(10*ms)*time.Millisecond), Fact: f}, nil) {
					return
				}
			}
		}
	}
}

// linesOf yields what the scheduler's log tells of them, and of as many pods that nothing else tells of.
func linesOf(noon time.Time, pods int, moves bool) Events {
	return func(yield func(sources.Event, error) bool) {
		for i := range pods {
			facts := []sources.Fact{
				&sources.Delivered{Verb: sources.Added, Name: nameOf(i)},
				&sources.FailedAttempt{Pod: nameOf(i), Log: true},
				&sources.Bound{Pod: nameOf(i), Node: "n"},
				&sources.Delivered{Verb: sources.Added, Name: nameOf(-i)},
				&sources.FailedAttempt{Pod: nameOf(-i), Log: true},
				&sources.SchedulerStarted{},
			}
			if moves {
				facts = []sources.Fact{
					&sources.Move{Pod: nameOf(i), To: sources.TierActive, Event: "UnscheduledPodAdd"},
					&sources.Move{Pod: nameOf(i), To: sources.TierDeleted},
					&sources.Move{Pod: nameOf(-i), To: sources.TierActive, Event: "UnscheduledPodAdd"},
				}
			}
			for ms, f := range facts {
				if !yield(sources.Event{Time: noon.Add(time.Duration(i)*time.Second + time.Duration(10*ms-2)*time.Millisecond), Fact: f}, nil) {
					return
				}
			}
		}
	}
}

func nameOf(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("p-%d", i)}
}

// heap is how many bytes of memory are in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
