package timeline

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// BenchmarkJudge reports what the second opinion costs at 150,000 waiting pods, each of which failed once: the share of a core, and the
// memory.
func BenchmarkJudge(b *testing.B) {
	const pods = 150_000
	cfg, err := schedulerconfig.Default()
	if err != nil {
		b.Fatal(err)
	}
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	e := newEngine(cfg, nil, noon)
	e.Board, e.forwardOnly = board.New(), true
	e.Emit = func(c board.Change) { e.Board.Replace(c.Before, c.After) }
	o := newOpinions(cfg, &shadow.Feed{})
	const message = "0/1 nodes are available: 1 Insufficient cpu."
	var failed []sources.Event
	for i := range pods {
		name := types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("pod-%d", i)}
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, UID: types.UID(name.Name), ResourceVersion: "1", CreationTimestamp: metav1.NewTime(noon)}}
		pod.Spec.SchedulerName = v1.DefaultSchedulerName
		e.apply(sources.Event{Time: noon, Fact: &sources.ObjectChange{Verb: sources.Added, Object: pod}})
		e.apply(sources.Event{Time: noon, Fact: &sources.Move{Pod: name, To: sources.TierUnschedulable, Event: "ScheduleAttemptFailure", Plugins: []string{"NodeResourcesFit"}, Message: message}})
		failed = append(failed, sources.Event{Time: noon, Fact: &sources.FailedAttempt{Pod: name, UID: pod.UID, Message: message, Recorded: sources.NewRecorded("1", 1)}})
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, ev := range failed {
		o.observe(e, ev)
	}
	now := noon
	for b.Loop() {
		now = now.Add(judgeManyEvery)
		o.judge(e, now)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N)/judgeManyEvery.Seconds(), "%-of-a-core")
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/(1<<20), "MiB")
	runtime.KeepAlive(failed)
	runtime.KeepAlive(o)
	runtime.KeepAlive(e)
}
