package queue_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
)

// TestMemoryAfterPeak checks that a queue frees its memory after a peak of waiting, nominated and in-flight pods.
func TestMemoryAfterPeak(t *testing.T) {
	const peak, stay = 50_000, 20
	pods := manyPods(peak)
	q := queue.New(queue.Defaults(), nil, nil)
	empty := heapInUse()
	for i, p := range pods {
		q.Add(noon, p)
		q.AddNominatedPod(p, "node")
		if i > stay {
			q.DeleteNominatedPodIfExists(pods[i-stay])
		}
	}
	for range peak / 2 {
		info, _ := q.Pop(noon)
		q.MoveAllToActiveOrBackoffQueue(noon, nodeAdd, nil, nil, nil)
		if info.Pod == nil {
			t.Fatal("nothing to pop")
		}
	}
	for range peak / 4 {
		info, _ := q.Pop(noon)
		fail(t, q, noon, info.Pod, "A")
	}
	full := heapInUse() - empty
	q.MoveAllToActiveOrBackoffQueue(noon.Add(time.Minute), nodeAdd, nil, nil, nil)
	for i, p := range pods {
		q.Done(noon, p.UID) // including the first ones, for which the queue retains events
		if i >= stay {
			q.Delete(noon, p)
		}
	}
	for i := range 2 { // flushes reuse memory, too
		q.FlushBackoffCompleted(noon.Add(time.Duration(i) * time.Hour))
		q.FlushUnschedulableLeftover(noon.Add(time.Duration(i) * time.Hour))
	}
	rest := heapInUse() - empty
	if rest*20 > full {
		t.Errorf("the queue takes %d kB with %d pods and still %d kB with %d, want at most 5 %%", full/1000, peak, rest/1000, stay)
	}
	runtime.KeepAlive(pods)
	runtime.KeepAlive(q)
}

// heapInUse returns the number of bytes in use.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
