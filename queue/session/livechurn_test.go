package session

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// churned returns a pod that is rejected once before it is bound.
func churned(n, version int, node string) *v1.Pod {
	p := world.PendingPod(fmt.Sprint("p-", n), "100m")
	p.UID, p.ResourceVersion, p.CreationTimestamp = types.UID(fmt.Sprint("uid-", n)), fmt.Sprint(n*10+version), metav1.Time{}
	p.Labels = map[string]string{"app": fmt.Sprint("app-", n%50)}
	p.Spec.NodeName = node
	if version > 0 && node == "" {
		world.Reject(p, world.TooSmall, "")
	}
	return p
}

// TestTwoDays: a live session with an archive, attached for two days to a cluster with a new pod every six
// seconds, takes no more memory than after one day, except for its plots, whose limit is not reached here
// (history/series.go). The test controls the clock.
func TestTwoDays(t *testing.T) {
	hours := 48
	if testing.Short() {
		hours = 16
	}
	folder := t.TempDir()
	stream := &handed{}
	o := NewLive(stream, timeline.Options{Memory: 1 << 20, OpenArchive: func() (archive.File, error) { return disk.Scratch(t.Context(), folder) }}).owner
	t.Cleanup(o.close)
	o.playing, o.memoryLimit = true, 1<<20
	start := time.Now().UTC()
	stream.status.Attached = start
	deliver := func(at time.Time, verb sources.Verb, pod *v1.Pod) {
		stream.events = append(stream.events, sources.Event{Time: at, Fact: &sources.ObjectChange{Verb: verb, Object: pod}})
	}
	heap := func() (mb float64) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	stream.events = append(stream.events, sources.Event{Time: start, Fact: &sources.ObjectChange{Verb: sources.Added, Object: world.Node("node-a", "10")}},
		sources.Event{Time: start, Fact: &sources.Attached{}})
	const every, stays = 6 * time.Second, 20
	var early float64
	steps := hours * int(time.Hour/every)
	for n := range steps {
		at := start.Add(time.Duration(n+1) * every)
		deliver(at, sources.Added, churned(n, 0, ""))
		stream.events = append(stream.events, sources.Event{Time: at.Add(time.Millisecond), Fact: &sources.FailedAttempt{Pod: world.Key(fmt.Sprint("p-", n)), UID: types.UID(fmt.Sprint("uid-", n)), Message: world.TooSmall}})
		deliver(at.Add(5*time.Millisecond), sources.Updated, churned(n, 1, ""))
		if n >= 1 {
			deliver(at.Add(2*time.Second), sources.Updated, churned(n-1, 2, "node-a"))
		}
		if n >= stays {
			deliver(at.Add(3*time.Second), sources.Deleted, churned(n-stays, 2, "node-a"))
		}
		for o.poll(at.Add(every)); o.recording.HasEventBy(o.recording.Feed.End); o.poll(at.Add(every)) { // writing takes time
			runtime.Gosched()
		}
		if n == steps/2 {
			early = heap()
		}
	}
	late, line := heap(), o.recording
	kept, _ := line.Kept()
	t.Logf("%d changes, %d in memory; heap after half of it %.1f MB, at the end %.1f MB", line.ChangeCount(), kept, early, late)
	if line.ChangeCount() < 4*steps {
		t.Errorf("there are %d changes of %d pods: the model has stopped", line.ChangeCount(), steps)
	}
	if plots := 8.0; late > 1.05*early+plots { // MB of a day's plots
		t.Errorf("after %d hours it takes %.1f MB, and %.1f MB after half of them", hours, late, early)
	}
}
