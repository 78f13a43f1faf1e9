package queue_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestMemoryAfterPeak: a queue in which many pods waited, were nominated and were in flight at once, and are gone, holds little
// more than one that never had them.
func TestMemoryAfterPeak(t *testing.T) {
	const peak, stay = 50_000, 20
	pods := manyPods(peak)
	q := queue.New(queue.Defaults(), nil, nil)
	empty := heapOf()
	for i, p := range pods {
		q.Add(noon, p)
		q.AddNominatedPod(p, "node")
		if i > stay {
			q.DeleteNominatedPodIfExists(pods[i-stay])
		}
	}
	why := queue.Rejection{UnschedulablePlugins: []string{"A"}}
	for range peak / 2 {
		info, _ := q.Pop(noon)
		q.MoveAllToActiveOrBackoffQueue(noon, fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, nil, nil, nil)
		if info.Pod == nil {
			t.Fatal("nothing to pop")
		}
	}
	for range peak / 4 {
		info, _ := q.Pop(noon)
		if err := q.AddUnschedulableIfNotPresent(noon, info.Pod, why); err != nil {
			t.Fatal(err)
		}
	}
	full := heapOf() - empty
	q.MoveAllToActiveOrBackoffQueue(noon.Add(time.Minute), fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, nil, nil, nil)
	for i, p := range pods {
		q.Done(noon, p.UID) // of the first ones too: the events that came since stay for them
		if i >= stay {
			q.Delete(noon, p)
		}
	}
	for i := range 2 { // the scratch of flushes, too
		q.FlushBackoffCompleted(noon.Add(time.Duration(i) * time.Hour))
		q.FlushUnschedulableLeftover(noon.Add(time.Duration(i) * time.Hour))
	}
	rest := heapOf() - empty
	if rest*20 > full {
		t.Errorf("with %d pods the queue holds %d kB, and after all but %d are gone %d kB", peak, full/1000, stay, rest/1000)
	}
	runtime.KeepAlive(pods)
	runtime.KeepAlive(q)
}

// heapOf returns how many bytes are in use.
func heapOf() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
